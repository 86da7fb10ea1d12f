interface Wrapper {
  /** A SQLSTATE in errors of `pg` and PGlite; Prisma has codes of its own here. */
  readonly code?: unknown;
  /** The SQLSTATE in Prisma's adapters. */
  readonly originalCode?: unknown;
  readonly cause?: unknown;
  readonly meta?: { readonly driverAdapterError?: unknown } | null;
}

// An error can be its own cause.
const DEEPEST = 8;

/** The codes of an error, its cause, the cause of that: handlers and ORMs wrap the server's error in one of their own. */
export function sqlStates(error: unknown): readonly unknown[] {
  const codes: unknown[] = [];
  let next = error;
  for (let depth = 0; depth < DEEPEST && typeof next === 'object' && next !== null; depth += 1) {
    const { code, originalCode, cause, meta } = next as Wrapper;
    codes.push(originalCode ?? code);
    next = cause ?? meta?.driverAdapterError;
  }
  return codes;
}
