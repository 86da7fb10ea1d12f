import { WebhookError, type BodyLimits } from '@paylink/core';
import { letGo, type BodyReader } from './let-go.js';
import { incomplete, watchBody } from './watch-body.js';

/** What is used of a Request. Some hosts, such as Azure Functions, have a request of their own, without a signal. */
export interface FetchRequest {
  readonly method: string;
  readonly headers: { get(name: string): string | null };
  readonly body?: BodyStream | null | undefined;
  readonly bodyUsed?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  arrayBuffer(): Promise<ArrayBuffer>;
  readonly [READ]?: true;
}

interface BodyStream {
  readonly locked: boolean;
  getReader(): BodyReader;
}

const BLOCK = 4_096;

/** On a request that a webhook has read: another one finds nothing to verify, and no parser is to blame. */
const READ = Symbol('read by a webhook');

/**
 * Reads the raw body once, piece by piece: `arrayBuffer()` and `text()` have no limit.
 *
 * @param bounded whether the host ends a body at its declared length; then it is read in one go
 * @throws WebhookError `body_consumed`, `body_too_large`, `body_timeout`, `incomplete_body`.
 */
export async function readBody(request: FetchRequest, limits: BodyLimits, bounded?: boolean): Promise<Uint8Array> {
  const declared = request.headers.get('content-length');
  // On Bun, reading `request.body` makes a stream, which costs as much as the check of a signature.
  const body = bounded && declared !== null ? undefined : request.body;
  if (request.bodyUsed === true || body?.locked === true) throw consumed(request[READ] === true);
  if (declared === null) throwIfLeft(request);
  const rawBody = body === null ? new Uint8Array() : await readWithin(request, body, limits);
  // A host may end the body of a sender that has left as if it were whole. A declared length shows that.
  if (declared !== null && rawBody.length !== Number(declared)) throwIfLeft(request);
  return rawBody;
}

function readWithin(
  request: FetchRequest,
  body: BodyStream | undefined,
  { bodyLimit, bodyTimeout }: BodyLimits,
): Promise<Uint8Array> {
  // A host's request may be frozen. No WeakSet of requests, which V8 is slow to collect.
  Reflect.set(request, READ, true);
  const reader = typeof body?.getReader === 'function' ? body.getReader() : undefined;

  // Not `Promise.race`, which costs Bun as much as the check of a signature.
  return new Promise((resolve, reject) => {
    let isOver = false;
    const succeed = (rawBody: Uint8Array): void => {
      endWatch();
      resolve(rawBody);
    };
    const fail = (error: unknown): void => {
      if (isOver) return;
      isOver = true;
      endWatch();
      if (reader !== undefined) letGo(reader);
      reject(error instanceof WebhookError ? error : incomplete(error));
    };
    const endWatch = watchBody(request, bodyTimeout, fail);
    // A host without streams has the whole body before it calls.
    (reader === undefined ? whole(request, bodyLimit) : collect(reader, bodyLimit)).then(succeed, fail);
  });
}

/** @throws WebhookError where the sender is gone. */
function throwIfLeft({ signal }: FetchRequest): void {
  if (signal?.aborted) throw incomplete(signal.reason);
}

async function whole(request: FetchRequest, bodyLimit: number): Promise<Uint8Array> {
  const body = new Uint8Array(await request.arrayBuffer());
  if (body.length > bodyLimit) throw new WebhookError('body_too_large');
  return body;
}

async function collect(reader: BodyReader, bodyLimit: number): Promise<Uint8Array> {
  let collected = new Uint8Array();
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done || value === undefined) return collected.subarray(0, length);
    length += value.length;
    if (length > bodyLimit) throw new WebhookError('body_too_large');
    // A body in one piece, as nearly all are, is not copied.
    if (length === value.length) collected = value as Uint8Array<ArrayBuffer>;
    else collected = append(collected, length - value.length, value, bodyLimit);
  }
}

/** Grows by what has come, never by what was declared, and copies small pieces together: each costs more than its bytes. */
function append(collected: Uint8Array<ArrayBuffer>, used: number, piece: Uint8Array, bodyLimit: number): Uint8Array<ArrayBuffer> {
  let target = collected;
  if (used + piece.length > collected.length) {
    target = new Uint8Array(Math.min(Math.max(BLOCK, 2 * (used + piece.length)), bodyLimit));
    target.set(collected.subarray(0, used));
  }
  target.set(piece, used);
  return target;
}

function consumed(byAnother: boolean): WebhookError {
  return new WebhookError('body_consumed', {
    message: byAnother
      ? 'another paymentWebhook read the body first'
      : 'something read the body first, so the signed bytes are gone. Give the webhook the request itself, before any ' +
        'request.json(), text() or formData(); middleware may read a request.clone()',
  });
}
