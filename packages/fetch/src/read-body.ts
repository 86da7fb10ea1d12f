import { WebhookError, type BodyLimits } from '@paylink/core';

type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

const BLOCK = 4_096;

/**
 * Reads the raw body once, piece by piece: `arrayBuffer()` and `text()` know no limit.
 *
 * @throws WebhookError `body_consumed`, `body_too_large`, `body_timeout`, `incomplete_body`.
 */
export async function readBody(request: Request, { bodyLimit, bodyTimeout }: BodyLimits): Promise<Uint8Array> {
  const { body, bodyUsed, signal } = request;
  if (bodyUsed || body?.locked === true) throw consumed();
  // A host may end the body of a sender that has left as if it were whole.
  if (signal.aborted) throw incomplete(signal.reason);
  if (body === null) return new Uint8Array();
  const reader = body.getReader() as BodyReader;

  let fail!: (error: WebhookError) => void;
  const failed = new Promise<never>((_, reject) => (fail = reject));
  const timer = setTimeout(() => {
    fail(new WebhookError('body_timeout', { message: `the body took longer than bodyTimeout (${bodyTimeout} ms)` }));
  }, bodyTimeout);
  const onAbort = (): void => {
    fail(incomplete());
  };
  signal.addEventListener('abort', onAbort);
  try {
    return await Promise.race([collect(reader, bodyLimit), failed]);
  } catch (error) {
    // Whoever is still sending is told to stop; what that comes to changes nothing for the reply.
    reader.cancel().catch(() => undefined);
    throw error instanceof WebhookError ? error : incomplete(error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

async function collect(reader: BodyReader, bodyLimit: number): Promise<Uint8Array> {
  let collected = new Uint8Array();
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return collected.subarray(0, length);
    length += value.length;
    if (length > bodyLimit) {
      throw new WebhookError('body_too_large', { message: `the body is larger than bodyLimit (${bodyLimit} bytes)` });
    }
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

function consumed(): WebhookError {
  return new WebhookError('body_consumed', {
    message:
      'something read the body first, so the bytes that were signed are gone. Give the webhook the request itself, before any ' +
      'request.json(), text() or formData(); in middleware, read a request.clone()',
  });
}

function incomplete(cause?: unknown): WebhookError {
  return new WebhookError('incomplete_body', { message: 'the sender went away before the body was complete', cause });
}
