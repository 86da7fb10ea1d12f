/** The exit codes, which every command's help lists. */
export const EXIT = { ok: 0, failed: 1, usage: 2, nothing: 3, keyRefused: 3 } as const;

/** As shells count a command that Ctrl-C ended: 128 and the number of SIGINT. */
export const INTERRUPTED = 130;

/** Ends a command with a message for people, and no stack trace. */
export class Failure extends Error {
  readonly exitCode: number;
  /** The fix, a line for each step. */
  readonly fixes: readonly string[];

  constructor(exitCode: number, message: string, fixes: readonly (string | undefined)[]) {
    super(message);
    this.exitCode = exitCode;
    this.fixes = fixes.filter((fix) => fix !== undefined);
  }
}

/** The command line or a setting is wrong, and nothing was done. */
export function usageFailure(message: string, ...fixes: (string | undefined)[]): Failure {
  return new Failure(EXIT.usage, message, fixes);
}

export function isUsageFailure(error: unknown): boolean {
  return error instanceof Failure && error.exitCode === EXIT.usage;
}

/** It was tried, and did not go well. */
export function failure(message: string, ...fixes: (string | undefined)[]): Failure {
  return new Failure(EXIT.failed, message, fixes);
}

/**
 * The set-up mistakes of the packages, by their code, since each could bring a copy of the class of
 * its own.
 */
export function isConfigurationError(error: unknown): error is Error & { readonly option: string } {
  return (
    error instanceof Error &&
    (error as { code?: unknown }).code === 'misconfigured' &&
    'option' in error
  );
}
