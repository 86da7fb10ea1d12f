import { check } from './errors.js';

/** Where warnings and failures are reported to the merchant. Never given a secret, a signature, a key or a body. */
export interface Logger {
  warn(message: string): void;
  error(message: string): void;
}

/**
 * The merchant's logger, checked at set-up, for `logQuietly`.
 *
 * @throws ConfigurationError
 */
export function readLogger(logger: Logger = console): Logger {
  const fit = typeof logger?.warn === 'function' && typeof logger.error === 'function';
  check(fit, 'logger', 'must have the functions `warn` and `error`');
  return {
    warn: (message) => logQuietly(() => logger.warn(message)),
    error: (message) => logQuietly(() => logger.error(message)),
  };
}

/** Calls the merchant's logger. What that throws or rejects with is dropped: a log line may never change the answer. */
export function logQuietly(log: () => unknown): void {
  // In an async function, so that a logger that throws and one that rejects are the same.
  const logging = async (): Promise<unknown> => log();
  logging().catch(() => undefined);
}

/** Warns once for each message: a stranger can bring about the same one without end. */
export function warnOnce(logger: Logger): (message: string) => void {
  const warned = new Set<string>();
  return (message) => {
    if (warned.has(message)) return;
    warned.add(message);
    logger.warn(message);
  };
}
