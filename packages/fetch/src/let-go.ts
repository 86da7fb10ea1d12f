/** Drops the rest of a body that nobody wants. */

/** A reader of a request's body. */
export interface BodyReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  /** The body of a host's own request may lack it. */
  cancel?(): Promise<unknown>;
}

/** Milliseconds that a sender has to read the reply. */
const LINGER = 1_000;
/** Pieces that are dropped before other work has its turn. */
const PIECES = 16;

/**
 * Drops the pieces of the next second (RFC 9112 section 9.6) and then cancels the body. Hosts that stand
 * on node:http, such as SvelteKit, destroy the connection on a cancel, and a waiting reply is lost.
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
  // A body that cannot be read any more has ended.
  const dropOn = (): void => void drop().catch(() => clearTimeout(end));
  later(0, dropOn);
}

/** Does not keep the process alive. On some runtimes a timer is a number. */
function later(milliseconds: number, work: () => void): ReturnType<typeof setTimeout> {
  const timer = setTimeout(work, milliseconds);
  (timer as { unref?: () => void }).unref?.();
  return timer;
}
