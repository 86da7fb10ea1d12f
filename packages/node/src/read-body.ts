import type { IncomingMessage } from 'node:http';
import { WebhookError, type BodyLimits } from '@paylink/core';
import getRawBody from 'raw-body';

/** What hosts and parsers hang on a request. */
interface PossiblyParsed {
  readonly rawBody?: unknown;
  readonly body?: unknown;
}

/**
 * Reads the raw body once.
 *
 * @param mend what to change when something else has read it, in the words of the host
 * @throws WebhookError `body_consumed`, `body_too_large`, `body_timeout`, `incomplete_body`.
 */
export async function readBody(req: IncomingMessage, limits: BodyLimits, mend: string): Promise<Uint8Array> {
  const { rawBody, body } = req as PossiblyParsed;
  // What the host kept for us, as Cloud Functions and `express.json({ verify })` do. Never a string: its bytes are lost.
  if (Buffer.isBuffer(rawBody)) return rawBody;
  // By the stream's own state and not by `req.body`: Express 4's parsers set that without having read anything.
  if (req.readableDidRead || req.readableEnded) {
    if (Buffer.isBuffer(body)) return body;
    throw consumed(req, mend);
  }
  if (req.readableEncoding !== null) throw consumed(req, mend);

  // Nearly always the body came in one packet with the headers. Then it is in the stream's buffer as soon as Node has
  // parsed that packet, which is before the next microtask: no listener, no timer, no copy.
  await Promise.resolve();
  if (hasArrived(req)) {
    if (req.readableLength > limits.bodyLimit) throw tooLarge(limits);
    return (req.read() as Buffer | null) ?? Buffer.alloc(0);
  }
  return readSlowly(req, limits, mend);
}

/** Whether Node has the whole body, and nobody has touched it meanwhile. */
function hasArrived(req: IncomingMessage): boolean {
  return req.complete && !req.destroyed && !req.readableDidRead;
}

/** Reads what is still on its way: raw-body counts and collects, and the time limit is ours. */
function readSlowly(req: IncomingMessage, limits: BodyLimits, mend: string): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      settle(new WebhookError('body_timeout', { message: `the body took longer than bodyTimeout (${limits.bodyTimeout} ms)` }));
    }, limits.bodyTimeout);
    // raw-body does not call back for a stream that closes without an end.
    const onClose = (): void => {
      settle(incomplete());
    };
    req.once('close', onClose);

    getRawBody(
      req,
      { limit: limits.bodyLimit, length: req.headers['content-length'] ?? null },
      (error: getRawBody.RawBodyError | null, body) => {
        settle(error === null ? undefined : translate(error, req, limits, mend), body);
      },
    );

    function settle(error: WebhookError | undefined, body?: Buffer): void {
      clearTimeout(timer);
      req.off('close', onClose);
      if (error === undefined) resolve(body!);
      else reject(error);
    }
  });
}

function translate(error: getRawBody.RawBodyError, req: IncomingMessage, limits: BodyLimits, mend: string): WebhookError {
  if (error.type === 'entity.too.large') return tooLarge(limits);
  if (error.type === 'stream.encoding.set') return consumed(req, mend);
  return incomplete();
}

function tooLarge({ bodyLimit }: BodyLimits): WebhookError {
  return new WebhookError('body_too_large', { message: `the body is larger than bodyLimit (${bodyLimit} bytes)` });
}

function incomplete(): WebhookError {
  return new WebhookError('incomplete_body', { message: 'the sender went away before the body was complete' });
}

function consumed(req: IncomingMessage, mend: string): WebhookError {
  const { body } = req as PossiblyParsed;
  const left = body === undefined ? '' : ` and left ${typeof body === 'string' ? 'a text' : 'an object'} in req.body`;
  return new WebhookError('body_consumed', {
    message: `something read the body first${left}, so the bytes that were signed are gone. ${mend}`,
  });
}
