import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import timers from 'node:timers';
import { WebhookError, type BodyLimits } from '@paylink/core';
import getRawBody from 'raw-body';
import { GatherPieces } from './gather-pieces.js';
import { notesOf } from './notes.js';

/** What hosts and parsers set on a request. */
interface PossiblyParsed {
  readonly rawBody?: unknown;
  readonly body?: unknown;
}

// Two webhooks on one request would both read a body that is still arriving, and both credit. For the whole process, since an
// application can hold two copies of this module.
const CLAIMED = Symbol.for('paylink.claimed');

/**
 * Reads the raw body once.
 *
 * @param hint how to fix it when something else has read it, in the words of the host
 * @throws WebhookError `body_consumed`, `body_too_large`, `body_timeout`, `incomplete_body`.
 */
export function readBody(
  req: IncomingMessage & PossiblyParsed,
  stream: Readable,
  limits: BodyLimits,
  hint: string,
): Promise<Uint8Array> {
  const { rawBody, body } = req;
  // Kept by the host, as Cloud Functions and `express.json({ verify })` do. Never a string: its bytes are lost.
  if (Buffer.isBuffer(rawBody)) return Promise.resolve(rawBody);
  const claimed = isClaimed(req);
  // By the stream's own state and not by `req.body`: Express 4's parsers set that without reading.
  if (isConsumed(stream) || claimed) {
    if (Buffer.isBuffer(body)) return Promise.resolve(body);
    return Promise.reject(claimed ? readByAnother() : consumed(req, hint));
  }

  // Nearly always the body came in one packet with the headers. Then it is in the stream's buffer once Node has parsed that
  // packet, which is before the event loop's next turn: no listener, no timer, no copy.
  notesOf(req)[CLAIMED] = true;
  return nextTurn().then(() => {
    // A listener that was there before has received it by now.
    if (isConsumed(stream)) throw consumed(req, hint);
    if (stream.destroyed) throw new WebhookError('incomplete_body');
    // Nothing in the buffer: the body is empty, or a layer such as serverless-http made the request and gives it when it is read.
    if (stream !== req || !req.complete || req.readableLength === 0) return readSlowly(req, stream, limits);
    if (req.readableLength > limits.bodyLimit) throw new WebhookError('body_too_large');
    // By a length: since Node 26, and on Bun and Deno, a bare `read()` gives the first piece only (nodejs/node#60441). By one more
    // than there is, since that ends the stream: else Node listens for its end, and drains it, after the reply.
    return (req.read(req.readableLength + 1) as Buffer | null) ?? readSlowly(req, stream, limits);
  });
}

/** Whether a webhook has begun to read the request. */
export function isClaimed(req: IncomingMessage): boolean {
  return notesOf(req)[CLAIMED] === true;
}

// Not the global one: a test's fake timers replace it, and jsdom has none.
const { setImmediate } = timers;

let turn: Promise<void> | undefined;

/** Resolves at the event loop's next turn: one promise for all requests of this turn. */
export function nextTurn(): Promise<void> {
  turn ??= new Promise((resolve) => {
    setImmediate(() => {
      turn = undefined;
      resolve();
    });
  });
  return turn;
}

function isConsumed(stream: Readable): boolean {
  // A stream of the package readable-stream has none of the three.
  return stream.readableDidRead || stream.readableEnded || typeof stream.readableEncoding === 'string';
}

/** Reads a body that is still arriving: raw-body counts and collects, and the time limit is ours. */
function readSlowly(req: IncomingMessage, stream: Readable, limits: BodyLimits): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const length = req.headers['content-length'] ?? null;
    const gathered = new GatherPieces(limits.bodyLimit, Number(length) || undefined);
    const timer = setTimeout(() => {
      settle(new WebhookError('body_timeout'));
    }, limits.bodyTimeout);
    const onClose = (): void => {
      if (!stream.readableEnded) settle(new WebhookError('incomplete_body'));
    };
    // Listeners stay: a stream may fail once more after this has settled.
    stream.on('close', onClose).on('error', onClose);
    // It needs no more of a stream than its events.
    getRawBody(gathered as unknown as Readable, { limit: limits.bodyLimit, length }, settle);
    stream.on('data', gathered.write);
    stream.on('end', gathered.end);
    // One of an older package tells its listeners of its end once, and no stream but that tells it nowhere else.
    const { _readableState: state } = stream as { readonly _readableState?: { readonly endEmitted?: boolean } };
    if (state?.endEmitted === true) gathered.end();
    // Resumed, since a middleware may have paused it. A stream of the oldest kind cannot be.
    else (stream as Partial<Readable>).resume?.();

    function settle(error: getRawBody.RawBodyError | WebhookError | null, body?: Buffer): void {
      clearTimeout(timer);
      stream.off('data', gathered.write);
      stream.off('end', gathered.end);
      if (error === null) return resolve(body!);
      reject(error instanceof WebhookError ? error : translate(error));
      gathered.close();
      (stream as Partial<Readable>).pause?.();
    }
  });
}

function translate({ type }: getRawBody.RawBodyError): WebhookError {
  return new WebhookError(type === 'entity.too.large' ? 'body_too_large' : 'incomplete_body');
}

function consumed({ body }: PossiblyParsed, hint: string): WebhookError {
  const left = body === undefined ? '' : ` and left ${typeof body === 'string' ? 'a text' : 'an object'} in req.body`;
  return new WebhookError('body_consumed', {
    message: `something read the body first${left}, so the bytes that were signed are gone. ${hint}`,
  });
}

function readByAnother(): WebhookError {
  return new WebhookError('body_consumed', {
    message: 'another paymentWebhook has read this request: let each request pass one of them only',
  });
}
