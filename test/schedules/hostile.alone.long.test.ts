/** Clients that speak nonsense, and servers that are no database or that close at once. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { removeBundle, shopAt, trySchedules } from './explore.js';
import { openTapped } from './taps.js';

afterAll(removeBundle);

async function startServer(answer: Buffer | string, isClosing: boolean) {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write(answer);
    if (isClosing) socket.end();
    // The login of MySQL is right.
    socket.once('data', () => socket.write(Buffer.from([7, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0])));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

describe('a server that is none', () => {
  const greeting = Buffer.from([74, 0, 0, 0, 10, ...Buffer.from('8.4.0')]);
  /** The login succeeds. A row of 9 bytes is announced. */
  const half = Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05ID\0\0\0\x09\0');
  it.each([
    ['closes at once', 'postgres', '', true, /createOrder|not acknowledged/],
    ['closes at once', 'mysql', '', true, /createOrder|not acknowledged/],
    ['closes in the middle of an answer', 'postgres', half, true, /createOrder|not acknowledged/],
    ['closes in the middle', 'mysql', greeting, true, /createOrder|not acknowledged/],
    ['speaks HTTP', 'postgres', 'HTTP/1.1 400 Bad Request\r\n\r\n', false, /does not answer as/],
    ['speaks HTTP', 'mysql', 'HTTP/1.1 400 Bad Request\r\n\r\n', false, /does not answer as/],
  ] as const)(
    'that %s is told with a sentence, and no process is left (%s)',
    async (_, shop, answer, isClosing, sentence) => {
      const { server, port } = await startServer(answer, isClosing);
      const databaseUrl = `${shop}://shop@127.0.0.1:${port}/shop`;
      await expect(trySchedules({ module: shopAt(shop), databaseUrl })).rejects.toThrow(sentence);
      server.close();
      const left = execFileSync('ps', ['-eo', 'ppid,args'], { encoding: 'utf8' });
      expect(left).not.toMatch(new RegExp(`^ *${process.pid} .*${shopAt(shop)}`, 'm'));
    },
    120_000,
  );
});

describe('a client of MySQL', () => {
  const greeting = Buffer.alloc(78);
  greeting.set([74, 0, 0, 0, 10, ...Buffer.from('8.4.0\0')]);
  greeting[25] = 0x08; // The server offers TLS.
  const login = Buffer.from([32, 0, 0, 1, ...Buffer.alloc(32)]);
  const packet = Buffer.alloc(4 + 0xff_ffff);
  packet.set([0xff, 0xff, 0xff, 0]);
  it.each([
    ['sends half a packet', [login.subarray(0, 9)]],
    [
      'announces packet after packet of one statement',
      [login, ...Array.from({ length: 6 }, () => packet)],
    ],
    ['asks for TLS', [Buffer.from([32, 0, 0, 1, 0, 8, ...Buffer.alloc(30)])]],
  ])('that %s is cut off, and the next one is served', async (_, sent) => {
    const { server, port } = await startServer(greeting, false);
    const tapped = await openTapped(`mysql://shop@127.0.0.1:${port}/shop`);
    const open = async () => {
      const client = connect(Number(new URL(tapped.url).port), '127.0.0.1');
      client.on('error', () => undefined);
      await once(client, 'data');
      return client;
    };
    const client = await open();
    const closed = once(client, 'close');
    for (const bytes of sent) client.write(bytes);
    if (sent[0]!.length === 9) client.end();
    await closed;
    (await open()).destroy();
    server.close();
  });
});
