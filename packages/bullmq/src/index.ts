export { enqueue, type EnqueueOptions, type JobQueue } from './enqueue.js';
export type { PaymentJob } from './job-data.js';
export { createProcessor } from './processor.js';
export type { JobLike, PaymentProcessor, ProcessorOptions } from './processor.js';
