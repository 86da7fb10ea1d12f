import { clearInterval, setInterval } from 'node:timers';
import type { Changes } from './changes.js';

// Each holds a connection. A browser opens at most six to one host, so this is several browsers.
const MOST_STREAMS = 32;
// Often enough that a proxy does not take the connection for dead.
const HEARTBEAT = 15_000;
const CHANGE = new TextEncoder().encode('event: change\ndata: \n\n');
const BEAT = new TextEncoder().encode(': still here\n\n');
const HELLO = new TextEncoder().encode('retry: 1000\n: hello\n\n');

/**
 * Server-sent events that only say that something has changed. The page then asks for its new
 * content.
 */
export class LiveStreams {
  readonly #changes: Changes;
  readonly #open = new Set<() => void>();
  #isClosed = false;

  constructor(changes: Changes) {
    this.#changes = changes;
  }

  /** A new stream, or undefined if there are too many. */
  open(): ReadableStream<Uint8Array> | undefined {
    if (this.#isClosed || this.#open.size >= MOST_STREAMS) return undefined;
    let end: () => void = () => undefined;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          const write = (bytes: Uint8Array): void => {
            // A full queue already holds a change that has not been read: nothing piles up.
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
