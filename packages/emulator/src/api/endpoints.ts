import { check } from '@paylink/core/internal';
import { Hono, type Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import {
  EmulatorError,
  ERROR_STATUSES,
  refuse,
  type ServiceErrorCode,
} from '../base/emulator-error.js';
import { report } from '../base/report.js';
import type { Assumed } from '../contract/assumed.js';
import type { Ledger } from '../payments/ledger.js';
import { parseLinkRequest } from '../payments/link-request.js';
import { createKeyCheck } from './authentication.js';
import { observe, type ApiRequest, type ObservedVariables } from './observed-request.js';
import type { RateLimiter } from './rate-limit.js';

// The contract names no limits.
const REQUEST_BYTES = 65_536;
const KEY_LENGTH = 255;

type ApiContext = Context<{ Variables: ObservedVariables }>;

export interface ApiOptions {
  readonly apiKey: string;
  readonly ledger: Ledger;
  readonly limiter: RateLimiter;
  readonly assumed: Assumed;
  readonly onRequest: (request: ApiRequest) => void;
}

/** Creates the service's two endpoints, mounted at the path of `baseUrl`. */
export function createApi(options: ApiOptions): Hono<{ Variables: ObservedVariables }> {
  const { apiKey, ledger, limiter, assumed, onRequest } = options;
  const api = new Hono<{ Variables: ObservedVariables }>();
  const isAuthentic = createKeyCheck(apiKey);

  api.use(observe(onRequest));

  api.use(async (c, next) => {
    if (!isAuthentic(c.req.raw.headers))
      throw new EmulatorError('unauthorized', 'the API key is missing or wrong');
    const secondsLeft = limiter.take();
    if (secondsLeft !== undefined) {
      c.header('Retry-After', String(secondsLeft));
      const message = `too many requests: the API answers again in ${secondsLeft} s`;
      throw new EmulatorError('rate_limited', message);
    }
    await next();
    c.header('Cache-Control', 'no-store');
  });

  api.post(
    '/v1/payment-links',
    bodyLimit({
      maxSize: REQUEST_BYTES,
      onError: () => {
        const message = `the body is larger than ${REQUEST_BYTES} bytes`;
        throw new EmulatorError('request_too_large', message);
      },
    }),
    async (c) => {
      const key = validateIdempotencyKey(c.req.header('idempotency-key'));
      if (!/^application\/json *(;|$)/i.test(c.req.header('content-type') ?? ''))
        throw new EmulatorError(
          'unsupported_media_type',
          'the Content-Type must be application/json',
        );
      const request = parseLinkRequest(parseJson(await c.req.arrayBuffer()));
      c.set('reference', request.reference);
      const { status, body } = ledger.create(request, key);
      return c.body(body, status, { 'Content-Type': 'application/json' });
    },
  );

  api.get('/v1/payments/:reference', async (c) => {
    const reference = decodeReference(c.req.raw);
    c.set('reference', reference);
    const link = ledger.findByReference(reference);
    const payment = link === undefined ? undefined : ledger.paymentOf(link);
    const answer = await assumed.statusAnswer({ reference, payment });
    if (answer !== undefined) {
      const isResponse = typeof (answer as Partial<Response> | null)?.clone === 'function';
      check(isResponse, 'assumed.statusAnswer', 'must return a Response or undefined');
      // It may return the same one again, and a body can be read only once.
      return answer.clone();
    }
    if (payment === undefined)
      throw new EmulatorError('not_found', 'this reference has no payment');
    return c.json(payment);
  });

  // Hono ignores `notFound` of a mounted app.
  api.all('*', (c) => {
    throw new EmulatorError('not_found', `the API does not answer ${c.req.method} at this path`);
  });
  api.onError((error, c) => {
    const { code, message } = error as EmulatorError;
    if (Object.hasOwn(ERROR_STATUSES, code))
      return answerError(c, code as ServiceErrorCode, message, assumed);
    report(error);
    return answerError(c, 'internal_error', 'the emulator failed: read its console', assumed);
  });
  return api;
}

function validateIdempotencyKey(value: string | undefined): string | undefined {
  if (value === '' || (value !== undefined && value.length > KEY_LENGTH))
    refuse(`Idempotency-Key must have 1 to ${KEY_LENGTH} characters`);
  return value;
}

function parseJson(body: ArrayBuffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return refuse('the body is not JSON');
  }
}

/** Reads the raw path, so that a slash or a percent sign in a reference stays unchanged. */
function decodeReference(request: Request): string {
  const segment = new URL(request.url).pathname.split('/').at(-1)!;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new EmulatorError('not_found', 'the reference is not encoded as a path segment');
  }
}

function answerError(
  c: ApiContext,
  code: ServiceErrorCode,
  message: string,
  { errorBody, errorStatus }: Assumed,
): Response {
  c.set('refusal', { code, message });
  if (code === 'unauthorized') c.header('WWW-Authenticate', 'Bearer');
  const body = JSON.stringify(errorBody({ code, message }));
  const status = errorStatus[code] as ContentfulStatusCode;
  return c.body(body, status, { 'Content-Type': 'application/json' });
}
