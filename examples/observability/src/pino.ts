import type { ObserveHook } from '@paylink/core';
import { pino, type DestinationStream, type Logger } from 'pino';

/** pino-http logs every header of a request, so the signature must be redacted. */
export function createLog(destination?: DestinationStream): Logger {
  return pino({ redact: ['req.headers["x-service-signature"]'] }, destination);
}

/**
 * For the option `observe`: one line for each delivery. Strangers can cause refusals without end,
 * so refusals are `debug`. Give the same log as the option `logger`, for Paylink's own lines.
 */
export function observeInLog(log: Logger): ObserveHook {
  return ({ reference: _reference, ...facts }) =>
    log[facts.outcome === 'rejected' ? 'debug' : 'info']({ paylink: facts }, 'payment webhook');
}
