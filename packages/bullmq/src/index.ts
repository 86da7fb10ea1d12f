export { enqueue, type PaymentJob } from './enqueue.js';
export { createProcessor } from './processor.js';
