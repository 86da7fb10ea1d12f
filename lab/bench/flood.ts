/** A flood of requests besides the measured ones: replays, or bad signatures. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

export interface Flood {
  /** Sends at this rate until stopped. Returns the reached rate. */
  run<T>(
    perSecond: number,
    meanwhile: () => Promise<T>,
  ): Promise<{ readonly value: T; readonly perSecond: number }>;
  end(): Promise<void>;
}

/** Starts a separate process, so that the flood does not slow the measurement. */
export async function openFlood(port: number, requests: readonly Buffer[]): Promise<Flood> {
  const child: ChildProcess = fork(new URL('flood-process.ts', import.meta.url), [String(port)]);
  await once(child, 'message');
  child.send({ requests: requests.map((request) => request.toString('latin1')) });
  return {
    async run(perSecond, meanwhile) {
      child.send({ perSecond });
      const value = await meanwhile();
      child.send({ perSecond: 0 });
      const [reached] = (await once(child, 'message')) as [number];
      return { value, perSecond: reached };
    },
    async end() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}
