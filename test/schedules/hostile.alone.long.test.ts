/** Servers that are no database, or that close at once. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { trySchedules } from '@paylink/testing/schedules/internal';
import { describe, expect, it } from 'vitest';
import { shopAt } from './explore.js';

describe('a server that is none', () => {
  const answers: Record<string, readonly [bytes: string | undefined, sentence: RegExp]> = {
    'closes in the middle': [undefined, /not acknowledged/],
    'speaks HTTP': ['HTTP/1.1 400 Bad Request\r\n\r\n', /does not answer as/],
  };
  it.each(
    Object.keys(answers).flatMap((name) =>
      ['postgres', 'mysql'].map((shop) => [name, shop] as const),
    ),
  )(
    'that %s is told with a sentence (%s)',
    async (name, shop) => {
      const [bytes, sentence] = answers[name]!;
      const server = createServer((socket) => {
        socket.on('error', () => undefined);
        if (bytes === undefined) socket.end();
        else socket.write(bytes);
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const exploring = trySchedules({
        module: shopAt(shop),
        databaseUrl: `${shop}://shop@127.0.0.1:${port}/shop`,
        createOrder: () => undefined,
      });
      await expect(exploring).rejects.toThrow(sentence);
      server.close();
    },
    120_000,
  );
});
