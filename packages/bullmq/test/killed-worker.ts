/** A worker that says that it has the job, and then hangs until it is killed. */
import { Worker } from 'bullmq';
import { createProcessor } from '../src/index.js';

const [name, port] = process.argv.slice(2);
const receive = (): Promise<void> => {
  process.send!('received');
  return new Promise(() => undefined);
};
const worker = new Worker(name!, createProcessor({ receive }), {
  connection: { host: '127.0.0.1', port: Number(port), maxRetriesPerRequest: null },
  lockDuration: 1_000,
  stalledInterval: 100,
});
worker.on('error', () => undefined);
