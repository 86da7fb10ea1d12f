import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { types } from 'node:util';
import { WebhookError, type BodyLimits } from '@paylink/core';
import { BodyCollector } from '@paylink/core/internal';

// Two webhooks on one request would both read the body and both credit. Symbol.for, because an
// application can contain two copies of this module.
const CLAIMED = Symbol.for('paylink.claimed');

/** A request with the properties that hosts and parsers set. */
type Request = IncomingMessage & {
  readonly rawBody?: unknown;
  readonly body?: unknown;
  [CLAIMED]?: true;
};

/**
 * Reads the raw body once. Attaches its listeners in the same tick, so that another `data` listener
 * takes no bytes.
 *
 * @param hint for the log: the fix if other code read the body first
 * @throws WebhookError `body_consumed`, `body_too_large`, `body_timeout`, `incomplete_body`
 */
export async function readBody(
  req: Request,
  stream: Readable,
  limits: BodyLimits,
  hint: string,
): Promise<Uint8Array> {
  // Uses the bytes that Cloud Functions and `express.json({ verify })` keep. Never uses a string.
  if (Buffer.isBuffer(req.rawBody)) return req.rawBody;
  const reader = readerOf(req, stream);
  if (reader !== undefined) {
    // Uses the bytes that express.raw keeps.
    if (Buffer.isBuffer(req.body)) return req.body;
    const message = `${reader}, so the signed bytes are gone. ${hint}`;
    throw new WebhookError('body_consumed', { message });
  }
  req[CLAIMED] = true;
  return collect(stream, req.headers['content-length'] ?? null, limits);
}

/** Names the code that read the body. Returns undefined if the body is still unread. */
function readerOf(req: Request, stream: Readable): string | undefined {
  if (req[CLAIMED]) return 'another paymentWebhook read this request';
  if (typeof stream.readableEncoding === 'string') return 'setEncoding() turned the body into text';
  // Checks the stream's state, because the parsers of Express 4 set `req.body` without reading.
  if (!stream.readableDidRead && !stream.readableEnded) return undefined;
  if (req.body === undefined) {
    return 'a `data` listener or another reader (tracing, a request logger) read the body first';
  }
  const kind = typeof req.body === 'string' ? 'text' : 'an object';
  return `a parser read the body first and left ${kind} in req.body`;
}

/** Collects the body within the limits. */
function collect(
  stream: Readable,
  length: string | null,
  { bodyLimit, bodyTimeout }: BodyLimits,
): Promise<Buffer> {
  if (stream.destroyed) return Promise.reject(incomplete());
  return new Promise((resolve, reject) => {
    const collector = new BodyCollector(bodyLimit);
    const timer = setTimeout(() => stop(new WebhookError('body_timeout')), bodyTimeout);
    // The error listener stays, because a stream may fail again after the body has settled.
    stream.on('close', onClose).on('error', onClose);
    stream.on('data', onData).on('end', onEnd);
    // Other middleware may have paused the stream.
    stream.resume();

    function onData(piece: unknown): void {
      // The stream of a hook may emit text or objects.
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
      try {
        if (!types.isUint8Array(bytes)) throw incomplete();
        collector.add(bytes);
      } catch (error) {
        stop(error as WebhookError);
      }
    }
    function onEnd(): void {
      const { body } = collector;
      if (length !== null && Number(length) !== body.length) return stop(incomplete());
      clearTimeout(timer);
      // Always a Buffer, so that code which works for one piece works for many.
      resolve(
        Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.length),
      );
    }
    function onClose(): void {
      if (!stream.readableEnded) stop(incomplete());
    }
    function stop(error: WebhookError): void {
      clearTimeout(timer);
      reject(error);
      stream.off('data', onData).off('end', onEnd).pause();
    }
  });
}

function incomplete(): WebhookError {
  return new WebhookError('incomplete_body');
}
