import type { BodyReader } from '@paylink/core/internal';

/** The reader of a request's body. `cancel` is missing on the body of some hosts' own requests. */
export type RequestReader = BodyReader & { cancel?(): Promise<unknown> };

/** Milliseconds for a sender to read the reply. */
const LINGER = 1_000;

/**
 * Drops the pieces of the next second (RFC 9112 section 9.6) and then cancels the body. Hosts on
 * node:http, such as SvelteKit, destroy the connection on a cancel, and the sender would lose the
 * reply.
 */
export function letGo(reader: RequestReader): void {
  let isOver = false;
  const end = later(LINGER, () => {
    isOver = true;
    reader.cancel?.().catch(() => undefined);
  });
  // One piece in each turn, so that other work gets its turn.
  const drop = async (): Promise<void> => {
    const { done } = await reader.read();
    if (done) clearTimeout(end);
    else if (!isOver) later(0, dropOn);
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
