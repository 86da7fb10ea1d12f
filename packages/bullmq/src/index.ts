export { enqueue, type EnqueueOptions, type JobQueue, type PaymentJob } from './enqueue.js';
export { createProcessor } from './processor.js';
