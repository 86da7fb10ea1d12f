import type { IncomingMessage, ServerResponse } from 'node:http';
import { createReceiver, WebhookError, type BodyLimits, type Delivery } from '@paylink/core';
import type { Handlers, NoEvents, ReceiverOptions } from '@paylink/core';

/** The host's request, which handlers and the `secret` function receive. */
interface Host {
  readonly req: IncomingMessage;
}

type Listener = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/** A complete adapter for node:http, the best-known host. For production, use @paylink/node. */
export function paymentWebhook(
  options: ReceiverOptions<NoEvents, Host>,
  handlers: Handlers<NoEvents, Host>,
): Listener {
  const receiver = createReceiver<NoEvents, Host>(options, handlers);
  return async (req, res) => {
    // Always returns a reply, so a handler's error never reaches the host.
    const { status, headers, body } = await receiver.receive(deliveryOf(req), { req });
    // The reply comes before the body ends, so the connection cannot be reused.
    const close = req.complete ? {} : { connection: 'close' };
    res.writeHead(status, { ...headers, ...close }).end(body);
  };
}

function deliveryOf(req: IncomingMessage): Delivery {
  return {
    method: req.method,
    // Join repeated headers with ", ". Never use only the first or the last.
    header: (name) => {
      const value = req.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    body: (limits) => readBody(req, limits),
  };
}

type BodyFault = 'body_consumed' | 'body_timeout' | 'body_too_large' | 'incomplete_body';

/** Reads the bytes within both limits. Settles even if the sender leaves. */
function readBody(
  req: IncomingMessage,
  { bodyLimit, bodyTimeout }: BodyLimits,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let length = 0;
    const fail = (code: BodyFault): void => {
      clearTimeout(timer);
      reject(new WebhookError(code));
    };
    const timer = setTimeout(fail, bodyTimeout, 'body_timeout');
    if (req.readableDidRead) return fail('body_consumed');

    req.on('data', (piece: Buffer) => {
      length += piece.length;
      if (length > bodyLimit) fail('body_too_large');
      else pieces.push(piece);
    });
    req.once('end', () => {
      clearTimeout(timer);
      resolve(Buffer.concat(pieces));
    });
    req.once('close', () => {
      fail('incomplete_body');
    });
  });
}
