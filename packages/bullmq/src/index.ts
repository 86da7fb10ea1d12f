export { enqueue, type EnqueueOptions, type JobQueue } from './enqueue.js';
export type { PaymentJob, VerifiedEvent } from './job-data.js';
export { createProcessor, type JobContext, type JobLike, type PaymentProcessor } from './processor.js';
