import type { MiddlewareHandler } from 'hono';
import { reportErrorsOf } from '../base/report.js';

/** A request that the emulated API answered or rejected, without the API key. */
export interface ApiRequest {
  readonly at: Date;
  readonly durationMs: number;
  readonly method: string;
  /** The path and the query, as sent. */
  readonly path: string;
  readonly idempotencyKey?: string;
  /** The reference in the path or the body. */
  readonly reference?: string;
  readonly status: number;
  /** The error code, if the API rejected the request. */
  readonly code?: string;
  readonly message?: string;
}

/** Facts that the endpoints report to the observer. */
export interface ObservedVariables {
  reference?: string;
  refusal?: { readonly code: string; readonly message: string };
}

/** Calls `listener` after each request. Prints its errors, which change nothing. */
export function observe(
  listener: (request: ApiRequest) => void,
): MiddlewareHandler<{ Variables: ObservedVariables }> {
  return async (c, next) => {
    const at = new Date();
    const started = performance.now();
    await next();
    const { pathname, search } = new URL(c.req.url);
    const { reference, refusal } = c.var;
    const idempotencyKey = c.req.header('idempotency-key');
    const request = {
      at,
      durationMs: performance.now() - started,
      method: c.req.method,
      path: `${pathname}${search}`,
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      ...(reference === undefined ? {} : { reference }),
      status: c.res.status,
      ...refusal,
    };
    reportErrorsOf(() => listener(request));
  };
}
