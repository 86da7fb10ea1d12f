/** What the exit codes mean; every command's help lists them. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

/** Ends a command with a message for people, and no stack trace. */
export class Failure extends Error {
  readonly exitCode: number;
  /** What to do about it, a line each. */
  readonly mends: readonly string[];

  constructor(exitCode: number, message: string, mends: readonly (string | undefined)[]) {
    super(message);
    this.exitCode = exitCode;
    this.mends = mends.filter((mend) => mend !== undefined);
  }
}

/** The command line or a setting is wrong; nothing was done. */
export function usageFailure(message: string, ...mends: (string | undefined)[]): Failure {
  return new Failure(EXIT.usage, message, mends);
}

/** It was tried, and did not go well. */
export function failure(message: string, ...mends: (string | undefined)[]): Failure {
  return new Failure(EXIT.failed, message, mends);
}

/** The set-up mistakes of the packages, by their code, since each could bring a copy of the class of its own. */
export function isConfigurationError(error: unknown): error is Error & { readonly option: string } {
  return error instanceof Error && (error as { code?: unknown }).code === 'misconfigured' && 'option' in error;
}
