import { once } from 'node:events';
import { IncomingMessage, type ServerResponse } from 'node:http';
import http2 from 'node:http2';
import { Socket, type AddressInfo } from 'node:net';
import { createResponse } from 'node-mocks-http';
import { signedDelivery, TEST_SECRET as secret } from '@paylink/testing';
import { expect, it, onTestFinished } from 'vitest';
import { copyBody, paymentWebhook } from '../src/index.js';
import { received } from './received.js';

const nothing = (): undefined => undefined;

it(
  'replaces `req.res` and `req.next` while a handler runs, by values that it cannot change',
  { tags: 'O09' },
  async () => {
    const res = createResponse();
    const req = Object.assign(received(signedDelivery({ secret })), { res, next: () => undefined });
    const { next } = req;
    const seen: boolean[] = [];
    const look = (): void =>
      void seen.push(req.res === res, req.next === next, Object.isFrozen(req.res));
    await paymentWebhook({ secret }, look)(req, res);
    look();
    expect(seen).toEqual([false, false, true, true, true, false]);
    expect(res.statusCode).toBe(200);
  },
);

it('settles only when a reply before the end of the body is written', { tags: 'O12' }, async () => {
  const { headers } = signedDelivery({ secret });
  const declared = { ...headers, 'content-length': '70000' };
  const req = Object.assign(new IncomingMessage(new Socket()), { method: 'POST' });
  req.httpVersionMajor = 1;
  Object.assign(req.headers, declared);
  const res = createResponse();
  const logger = { warn: nothing, error: nothing };
  const settled = paymentWebhook({ secret, logger }, nothing)(req, res).then(
    () => res.writableEnded,
  );
  setImmediate(() => req.push(null));
  expect(await settled).toBe(true);
});

it.each<[string, (req: IncomingMessage) => unknown]>([
  ['paused the request', (req) => req.pause()],
  [
    'listened to the request and paused it',
    (req) => {
      copyBody(req);
      req.on('data', nothing);
      setImmediate(() => req.pause());
    },
  ],
])(
  'reads a body over HTTP/2 that arrives after other code %s',
  { tags: 'R01' },
  async (_how, pause) => {
    const webhook = paymentWebhook({ secret }, nothing);
    const server = http2.createServer((request, response) => {
      const req = request as unknown as IncomingMessage;
      pause(req);
      setTimeout(() => {
        void webhook(req, response as unknown as ServerResponse);
        session.emit('reading');
      }, 5);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const session = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    onTestFinished(() => {
      session.destroy();
      server.close();
    });
    const { headers, rawBody } = signedDelivery({ secret });
    const stream = session.request({ ':method': 'POST', ...headers }, { endStream: false });
    await once(session, 'reading');
    stream.write(rawBody.subarray(0, 5));
    stream.end(rawBody.subarray(5));
    const [reply] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
    expect(reply[':status']).toBe(200);
  },
);
