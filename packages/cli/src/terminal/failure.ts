export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  /** Shells report a command that Ctrl-C ended as 128 plus the number of SIGINT. */
  interrupted: 130,
} as const;

/** Ends a command with a message for people and without a stack trace. */
export class Failure extends Error {
  /** The fix, one line per step. */
  readonly fixes: readonly string[];

  constructor(
    readonly exitCode: number,
    message: string,
    fixes: readonly (string | undefined)[],
  ) {
    super(message);
    this.fixes = fixes.filter((fix) => fix !== undefined);
  }
}

/** Reports a wrong command line or setting. The command has done nothing. */
export function usageFailure(message: string, ...fixes: (string | undefined)[]): Failure {
  return new Failure(EXIT.usage, message, fixes);
}

/** Reports a command that ran and failed. */
export function failure(message: string, ...fixes: (string | undefined)[]): Failure {
  return new Failure(EXIT.failed, message, fixes);
}

/** Describes a file that cannot be written, with the system's code. */
export function cannotBeWritten(path: string, error: unknown): string {
  return `${path} cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`;
}

/** Describes the file of an option that cannot be read, with the system's code. */
export function cannotBeRead(option: string, path: string, error: unknown): string {
  const { code = messageOf(error) } = error as NodeJS.ErrnoException;
  return `${option}: ${path} cannot be read (${code})`;
}

/**
 * Recognises configuration errors by their code, because each package could bundle its own class.
 */
export function isConfigurationError(error: unknown): error is Error & { readonly option: string } {
  return (
    error instanceof Error &&
    (error as { code?: unknown }).code === 'misconfigured' &&
    'option' in error
  );
}

/** Returns the message of any thrown value. Never throws: merchants' code can throw anything. */
export function messageOf(error: unknown): string {
  try {
    const [first = error] = error instanceof AggregateError ? (error.errors as unknown[]) : [error];
    const { message } = Object(first) as Partial<Error>;
    return typeof message === 'string' ? message : String(first);
  } catch {
    return 'an unreadable error';
  }
}
