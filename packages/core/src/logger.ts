import { check } from './errors.js';

/** Where warnings and failures are reported to the merchant. Never given a secret, a signature, a key or a body. */
export interface Logger {
  warn(message: string): void;
  error(message: string): void;
}

/**
 * The merchant's logger, checked at set-up. What it throws or rejects with is dropped here, for every path: a log line may
 * never change the answer.
 *
 * @throws ConfigurationError
 */
export function readLogger(logger: Logger = console): Logger {
  const fit = typeof logger?.warn === 'function' && typeof logger.error === 'function';
  check(fit, 'logger', 'must have the functions `warn` and `error`');
  const quietly =
    (level: 'warn' | 'error') =>
    (message: string): void => {
      // In an async function, so that a logger that throws and one that rejects are the same.
      const log = async (): Promise<void> => logger[level](message);
      log().catch(() => undefined);
    };
  return { warn: quietly('warn'), error: quietly('error') };
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
