import type { ObserveHook } from '@paylink/core';
import { pino, type DestinationStream, type Logger } from 'pino';

/** pino-http logs every header of a request, so also the signature. */
export function createLog(destination?: DestinationStream): Logger {
  return pino({ redact: ['req.headers["x-service-signature"]'] }, destination);
}

/**
 * For the option `observe`: one line for each delivery. A stranger can be refused without end, so that is `debug`. Give the same
 * log as the option `logger`, for what Paylink itself reports.
 */
export function observeInLog(log: Logger): ObserveHook {
  return ({ reference: _reference, ...facts }) =>
    log[facts.outcome === 'rejected' ? 'debug' : 'info']({ paylink: facts }, 'payment webhook');
}
