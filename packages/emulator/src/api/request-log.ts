import type { MiddlewareHandler } from 'hono';
import { report } from '../report.js';

/** A request that the emulated API answered or refused, without the API key. */
export interface ApiRequest {
  readonly id: number;
  readonly at: Date;
  readonly durationMs: number;
  readonly method: string;
  /** The path and the query, as sent. */
  readonly path: string;
  readonly idempotencyKey?: string;
  /** The first 4,096 bytes of the body as UTF-8, if the API read it. */
  readonly body?: string;
  /** The reference in the path or the body. */
  readonly reference?: string;
  readonly status: number;
  /** The error code, if the API refused the request. */
  readonly code?: string;
  readonly message?: string;
}

/** Facts that the endpoints report to the log. */
export interface LoggedVariables {
  body?: Uint8Array;
  reference?: string;
  refusal?: { readonly code: string; readonly message: string };
}

const BODY_KEPT = 4_096;

/** Keeps the newest API requests and notifies the listeners of each request. */
export class RequestLog {
  readonly #kept: number;
  readonly #onChange: () => void;
  readonly #listeners = new Set<(request: ApiRequest) => void>();
  #requests: ApiRequest[] = [];
  #count = 0;

  constructor(kept: number, onChange: () => void) {
    this.#kept = kept;
    this.#onChange = onChange;
  }

  readonly middleware: MiddlewareHandler<{ Variables: LoggedVariables }> = async (c, next) => {
    const at = new Date();
    const started = performance.now();
    await next();
    const { pathname, search } = new URL(c.req.url);
    const { body, reference, refusal } = c.var;
    const idempotencyKey = c.req.header('idempotency-key');
    this.#add({
      id: ++this.#count,
      at,
      durationMs: performance.now() - started,
      method: c.req.method,
      path: `${pathname}${search}`,
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      ...(body === undefined
        ? {}
        : { body: Buffer.from(body).subarray(0, BODY_KEPT).toString('utf8') }),
      ...(reference === undefined ? {} : { reference }),
      status: c.res.status,
      ...refusal,
    });
  };

  /** Returns every kept request, oldest first. */
  list(): ApiRequest[] {
    return [...this.#requests];
  }

  /** Calls `listener` after each request. Returns an unsubscribe function. */
  listen(listener: (request: ApiRequest) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  clear(): void {
    this.#requests = [];
    this.#count = 0;
  }

  #add(request: ApiRequest): void {
    this.#requests.push(request);
    if (this.#requests.length > this.#kept) this.#requests.shift();
    for (const listener of this.#listeners) {
      try {
        listener(request);
      } catch (error) {
        report(error);
      }
    }
    this.#onChange();
  }
}

/** Finds the reference in a body, even if the API refuses the body for another fault. */
export function referenceIn(body: Uint8Array): string | undefined {
  try {
    const { reference } = JSON.parse(Buffer.from(body).toString('utf8')) as { reference?: unknown };
    return typeof reference === 'string' ? reference : undefined;
  } catch {
    return undefined;
  }
}
