/**
 * Counts the exceptions of this thread, even caught ones: each costs as much as verifying a
 * signature.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

// Plain JavaScript, because a worker does not use tsx. A debugger must run on another thread than
// its target.
const DEBUGGER = `
const { Session } = require('node:inspector');
const { parentPort } = require('node:worker_threads');
const session = new Session();
const thrown = [];
session.connectToMainThread();
session.on('Debugger.paused', ({ params: { data, callFrames } }) => {
  const places = callFrames.slice(0, 3).map(({ functionName, url }) => functionName + ' in ' + url);
  thrown.push([String(data?.description).split('\\n')[0], ...places].join(' < '));
  session.post('Debugger.resume');
});
session.post('Debugger.enable', () => {
  session.post('Debugger.setPauseOnExceptions', { state: 'all' }, () => parentPort.postMessage('on'));
});
parentPort.on('message', () => parentPort.postMessage(thrown));
`;

/** Watches from now on. Returns a function that returns the exceptions with their places. */
export async function watchExceptions(): Promise<() => Promise<readonly string[]>> {
  const worker = new Worker(DEBUGGER, { eval: true });
  worker.unref();
  await once(worker, 'message');
  return async () => {
    worker.postMessage('tell');
    const [thrown] = (await once(worker, 'message')) as [string[]];
    return thrown;
  };
}
