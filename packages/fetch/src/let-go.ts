/** A reader of a request's body. */
export interface BodyReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  /** Missing on the body of some hosts' own requests. */
  cancel?(): Promise<unknown>;
}

/** Milliseconds for a sender to read the reply. */
const LINGER = 1_000;
/** Pieces to drop before other work gets its turn. */
const PIECES = 16;

/**
 * Drops the pieces of the next second (RFC 9112 section 9.6) and then cancels the body. Hosts on
 * node:http, such as SvelteKit, destroy the connection on a cancel, and the sender would lose the
 * reply.
 */
export function letGo(reader: BodyReader): void {
  let isOver = false;
  const end = later(LINGER, () => {
    isOver = true;
    reader.cancel?.().catch(() => undefined);
  });
  const drop = async (): Promise<void> => {
    for (let count = 0; count < PIECES && !isOver; count++) {
      if (!(await reader.read()).done) continue;
      clearTimeout(end);
      return;
    }
    if (!isOver) later(0, dropOn);
  };
  // If reading fails, the body has ended.
  const dropOn = (): void => void drop().catch(() => clearTimeout(end));
  later(0, dropOn);
}

/** Sets a timer that does not keep the process alive. On some runtimes a timer is a number. */
function later(milliseconds: number, work: () => void): ReturnType<typeof setTimeout> {
  const timer = setTimeout(work, milliseconds);
  (timer as { unref?: () => void }).unref?.();
  return timer;
}
