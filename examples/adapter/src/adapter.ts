import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createReceiver,
  WebhookError,
  type BodyLimits,
  type Delivery,
  type ReceiverHandlers,
  type ReceiverOptions,
} from '@paylink/core';
import type { NoEvents } from '@paylink/core';

type Options = ReceiverOptions<NoEvents, never, never, object>;
type Listener = (req: IncomingMessage, res: ServerResponse) => void;

/** An adapter in full. Its host is node:http, since every reader knows it; for real use there is @paylink/node. */
export function paymentWebhook(options: Options, handlers: ReceiverHandlers<NoEvents, never, never, object>): Listener {
  const receiver = createReceiver(options, handlers);
  return (req, res) => {
    receiver.receive(deliveryOf(req), { req }).then(
      ({ status, headers, body }) => {
        // Replied before the body's end: the connection cannot be used again.
        const close = req.complete ? {} : { connection: 'close' };
        res.writeHead(status, { ...headers, ...close }).end(body);
      },
      // What the handler threw is the host's to deal with; ours has nothing but this.
      () => res.writeHead(500).end(),
    );
  };
}

function deliveryOf(req: IncomingMessage): Delivery {
  return {
    method: req.method,
    // Repeated lines joined with ", ": never the first one or the last one of them.
    header: (name) => {
      const value = req.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    body: (limits) => readBody(req, limits),
  };
}

/** Bytes and nothing but bytes, within both limits, and settled whatever the sender does. */
function readBody(req: IncomingMessage, { bodyLimit, bodyTimeout }: BodyLimits): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let length = 0;
    const fail = (code: 'body_consumed' | 'body_timeout' | 'body_too_large' | 'incomplete_body'): void => {
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
