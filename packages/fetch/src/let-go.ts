/** Drops the rest of a body that is not wanted. */

/** A reader of a request's body. */
export interface BodyReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  /** The body of a host's own request may have none. */
  cancel?(): Promise<unknown>;
}

/** How many milliseconds a sender has to take the reply. */
const LINGER = 1_000;
/** How many pieces are dropped before other work has its turn. */
const PIECES = 16;

/**
 * Drops what still comes for a moment, as RFC 9112 section 9.6 advises, and then cancels the body. Not before the reply: on hosts that
 * stand on node:http, such as SvelteKit, to cancel a body is to destroy its connection, and a reply that waits there is lost.
 */
export function letGo(reader: BodyReader): void {
  let isOver = false;
  const end = later(LINGER, () => {
    isOver = true;
    reader.cancel?.().catch(() => undefined);
  });
  const drop = async (): Promise<void> => {
    for (let count = 0; count < PIECES && !isOver; count++) {
      const { done } = await reader.read();
      if (done) {
        clearTimeout(end);
        return;
      }
    }
    if (!isOver) later(0, dropOn);
  };
  // What cannot be read any more has ended.
  const dropOn = (): void => void drop().catch(() => clearTimeout(end));
  later(0, dropOn);
}

/** A process that is done does not wait for a sender. On some runtimes a timer is a number. */
function later(milliseconds: number, work: () => void): ReturnType<typeof setTimeout> {
  const timer = setTimeout(work, milliseconds);
  (timer as { unref?: () => void }).unref?.();
  return timer;
}
