export { enqueue, type EnqueueOptions } from './enqueue.js';
export type { PaymentJob } from './job-data.js';
export { createProcessor, type ProcessorOptions } from './processor.js';
