import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { begin, exchange, requestBytes, Wire } from '../src/wire.js';
import { afterEach, describe, expect, it } from 'vitest';

const REPLY = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
const REQUEST = requestBytes([['Content-Length', '0']], Buffer.alloc(0));

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A server that replies, then keeps its process from reading for longer than `limit`. */
async function busyAfterReply(limit: number): Promise<number> {
  const server = createServer((socket) => {
    ends.push(() => socket.destroy());
    socket.on('data', () => {
      socket.write(REPLY);
      for (const end = performance.now() + 2 * limit; performance.now() < end;);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

it('sends each character of a header as one byte, so that an attack may have any bytes', () => {
  const request = requestBytes([['X', 'é']], Buffer.from('é'), { method: 'PUT', path: '/a' });
  const head = Buffer.from('PUT /a HTTP/1.1\r\nX: é\r\n\r\n', 'latin1');
  expect(request).toEqual(Buffer.concat([head, Buffer.from('é')]));
});

describe('Wire', () => {
  it('accepts a reply that arrived in time but was read late', async () => {
    const wire = await begin(await busyAfterReply(50));
    void wire.write(REQUEST);
    expect(await wire.answer('POST', 50)).toMatchObject({ status: 200 });
  });

  it('reports `no answer` if none arrived', async () => {
    const port = await busyAfterReply(0);
    expect(await exchange(port, REQUEST)).toMatchObject({ status: 200 });
    const wire = await begin(port);
    expect(await wire.answer('POST', 50)).toBe('no answer');
    void wire.write(REQUEST);
    expect(await wire.answer('POST')).toMatchObject({ status: 200 });
  });

  it('reports bytes behind a reply, and ends with its signal', async () => {
    const server = createServer((socket) => {
      // The sender breaks its connections.
      socket.on('error', () => undefined).end(`${REPLY}x`);
    }).listen(0, '127.0.0.1');
    ends.push(() => server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { wire } = await exchange(port, REQUEST);
    await expect(wire.closed()).rejects.toThrow('bytes after the reply: x');
    const controller = new AbortController();
    const { socket } = await Wire.open(port, { signal: controller.signal });
    controller.abort();
    expect(socket.destroyed).toBe(true);
  });

  it('reports a reset after a close, because it shows that the server released the socket', async () => {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('data', () => socket.resetAndDestroy()).end();
    }).listen(0, '127.0.0.1');
    ends.push(() => server.close());
    await once(server, 'listening');
    const wire = await begin((server.address() as AddressInfo).port);
    expect(await wire.closed()).toBe('FIN');
    // Reading has ended, so that only a write notices the reset.
    const ending = async () => wire.write(REQUEST).then(() => wire.ending);
    await expect.poll(ending).toBe('RST');
  });

  it('accepts a connection that opened in time but was noticed late', async () => {
    const port = await busyAfterReply(0);
    const opening = Wire.open(port, { timeout: 50 });
    for (const end = performance.now() + 100; performance.now() < end;);
    (await opening).destroy();
  });
});
