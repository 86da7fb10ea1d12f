import { performance } from 'node:perf_hooks';
import { sign } from '@paylink/core';
import type { WebhookTarget } from '../server/target.js';
import type { DeliveryAttempt } from './delivery.js';
import { postNotification } from './post.js';

export interface AttemptOptions {
  readonly target: WebhookTarget;
  readonly body: string;
  readonly secret: string;
  readonly number: number;
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/**
 * Signs a notification (docs/service.md 6.3) and sends it once. Returns the answer, or the reason
 * for a missing answer. Never throws.
 */
export async function sendOnce(options: AttemptOptions): Promise<DeliveryAttempt> {
  const { target, body, secret, number, timeout, signal } = options;
  const headers = {
    'Content-Type': 'application/json',
    'X-Service-Event': 'payment.succeeded',
    'X-Service-Signature': await sign(body, secret),
  };
  const startedAt = new Date();
  const started = performance.now();
  const request = { method: 'POST', url: target.url.href, headers, body } as const;
  const outcome = await postNotification({ target, headers, body, timeout, signal }).then(
    (response) => ({ response }),
    (error: unknown) => explain(error, target.url),
  );
  return { number, startedAt, durationMs: performance.now() - started, request, ...outcome };
}

/** Explains error codes of the operating system. The message keeps the code, for searches. */
const MEANINGS: Readonly<Record<string, (url: URL) => string>> = {
  ECONNREFUSED: ({ origin }) => `nothing listens at ${origin} (ECONNREFUSED)`,
  ECONNRESET: ({ origin }) => `${origin} closed the connection without an answer (ECONNRESET)`,
  ENOTFOUND: ({ hostname }) => `the host ${hostname} does not exist (ENOTFOUND)`,
  EAI_AGAIN: ({ hostname }) => `the host ${hostname} could not be looked up (EAI_AGAIN)`,
};

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO/;

function explain(error: unknown, url: URL): { error: string; errorCode: string } {
  const { name, message, cause, code } = error as Error & { readonly code?: unknown };
  const errorCode = typeof code === 'string' ? code : 'ECONNRESET';
  if (name === 'AbortError' && cause instanceof Error)
    return { error: cause.message, errorCode: 'aborted' };
  if (CERTIFICATE.test(errorCode)) {
    const remedy = "name its authority's file in NODE_EXTRA_CA_CERTS";
    return {
      error: `the certificate of ${url.host} is not trusted (${errorCode}): ${remedy}`,
      errorCode,
    };
  }
  // If a name has two addresses and neither answers, Node's error has an empty message.
  return { error: MEANINGS[errorCode]?.(url) ?? (message || errorCode), errorCode };
}
