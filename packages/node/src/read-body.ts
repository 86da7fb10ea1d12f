import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { WebhookError, type BodyLimits } from '@paylink/core';
import getRawBody from 'raw-body';
import { wholeBody } from './body-copy.js';
import { headerOf, ownValue } from './header.js';
import { Pieces } from './pieces.js';
import { endOfTurn } from './turn.js';

// Two webhooks on one request would both read the body and both credit. Symbol.for, because an
// application can contain two copies of this module.
const CLAIMED = Symbol.for('paylink.claimed');

type Request = IncomingMessage & { [CLAIMED]?: true };

/**
 * Reads the raw body once. Attaches its listeners in the same tick, so that another `data` listener
 * takes no bytes. Resolves at the end of a turn of the event loop, or immediately if other code
 * kept the bytes.
 *
 * @param hint the fix to log if other code read the body first
 * @throws WebhookError `body_consumed`, `body_too_large`, `body_timeout`, `incomplete_body`
 */
export async function readBody(
  req: Request,
  limits: BodyLimits,
  hint: string,
): Promise<Uint8Array> {
  const stream = wholeBody(req);
  const reader = readerOf(req, stream);
  // Uses the bytes that Cloud Functions, `express.json({ verify })` and express.raw keep, and never
  // a string.
  const rawBody = ownValue(req, 'rawBody');
  const kept = Buffer.isBuffer(rawBody) ? rawBody : reader && ownValue(req, 'body');
  if (req[CLAIMED] === true || (reader !== undefined && !Buffer.isBuffer(kept))) {
    const message = `${reader}, so the signed bytes are gone. ${hint}`;
    throw new WebhookError('body_consumed', { message });
  }
  req[CLAIMED] = true;
  if (Buffer.isBuffer(kept)) return kept;
  const body = await collect(stream, headerOf(req, 'content-length'), limits);
  await endOfTurn();
  return body;
}

/** Names the code that read the body, or returns undefined. */
function readerOf(req: Request, stream: Readable): string | undefined {
  if (req[CLAIMED]) return 'another paymentWebhook read this request';
  if (typeof stream.readableEncoding === 'string') return 'setEncoding() turned the body into text';
  // Checks the stream's state, because the parsers of Express 4 set `req.body` without reading.
  if (!stream.readableDidRead && !stream.readableEnded) return undefined;
  return ownValue(req, 'body') === undefined
    ? 'a `data` listener or another reader (tracing, a request logger) read the body first'
    : 'a parser read the body first and left no bytes in req.body';
}

/** Reads by `readable`, which takes the stream from `data` listeners. They still get each piece. */
async function collect(
  stream: Readable,
  declared: string | undefined,
  { bodyLimit, bodyTimeout }: BodyLimits,
): Promise<Buffer> {
  if (stream.destroyed) throw new WebhookError('incomplete_body');
  const pieces = new Pieces(bodyLimit);
  // Every option that raw-body reads, so that it reads none from a polluted prototype.
  const options = { limit: bodyLimit, length: declared ?? null, encoding: null };
  const reading = getRawBody(pieces as unknown as Readable, options);
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  // Most bodies end in the turn of their headers, and need no timer.
  void endOfTurn().then(() => {
    if (!isOver) timer = setTimeout(() => pieces.fail('body_timeout'), bodyTimeout);
  });
  // On Node 26, Bun and Deno a call gives one piece, and no event comes for the others.
  const onReadable = (): void => {
    while (stream.read() !== null);
  };
  const onData = (piece: unknown): void => pieces.add(piece);
  const onEnd = (): void => pieces.end();
  const onClose = (): void => {
    if (!stream.readableEnded) pieces.fail('incomplete_body');
  };
  // A host's hook may have paused the stream, and HTTP/2 waits for `resume`.
  if (stream.isPaused()) stream.resume();
  stream.on('readable', onReadable).on('data', onData).on('end', onEnd);
  // The error listener stays, because a stream may fail again after the body has settled.
  stream.on('close', onClose).on('error', onClose);
  // Another `readable` listener may have left bytes, and no event would come for them.
  onReadable();
  try {
    return await reading;
  } catch (error) {
    stream.off('readable', onReadable).off('data', onData).off('end', onEnd);
    if (error instanceof WebhookError) throw error;
    const { status } = error as getRawBody.RawBodyError;
    if (status === 413) throw new WebhookError('body_too_large');
    const message =
      'the length of the body differs from Content-Length: a hook or a proxy changed it';
    throw new WebhookError('incomplete_body', { message });
  } finally {
    isOver = true;
    clearTimeout(timer);
  }
}
