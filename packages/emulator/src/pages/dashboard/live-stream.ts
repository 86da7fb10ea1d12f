import { clearInterval, setInterval } from 'node:timers';
import type { Changes } from './changes.js';

// Each stream holds a connection. A browser opens at most six per host, so this serves several
// browsers.
const MOST_STREAMS = 32;
// Often enough to keep proxies from closing the connection.
const HEARTBEAT = 15_000;
const CHANGE = new TextEncoder().encode('event: change\ndata: \n\n');
const BEAT = new TextEncoder().encode(': still here\n\n');
const HELLO = new TextEncoder().encode('retry: 1000\n: hello\n\n');

/** Sends server-sent events without content. The page then fetches its new content. */
export class LiveStreams {
  readonly #changes: Changes;
  readonly #open = new Set<() => void>();
  #isClosed = false;

  constructor(changes: Changes) {
    this.#changes = changes;
  }

  /** Returns a new stream, or undefined if too many are open. */
  open(): ReadableStream<Uint8Array> | undefined {
    if (this.#isClosed || this.#open.size >= MOST_STREAMS) return undefined;
    let end: () => void = () => undefined;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          const write = (bytes: Uint8Array): void => {
            // A full queue already holds an unread change.
            if ((controller.desiredSize ?? 0) > 0) controller.enqueue(bytes);
          };
          const stopListening = this.#changes.listen(() => write(CHANGE));
          const timer = setInterval(() => write(BEAT), HEARTBEAT).unref();
          const finish = (): void => {
            end();
            controller.close();
          };
          end = () => {
            stopListening();
            clearInterval(timer);
            this.#open.delete(finish);
          };
          this.#open.add(finish);
          controller.enqueue(HELLO);
        },
        cancel: () => end(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: 1_024 }),
    );
  }

  close(): void {
    this.#isClosed = true;
    for (const finish of [...this.#open]) finish();
  }
}
