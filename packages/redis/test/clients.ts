import { Redis } from 'ioredis';
import { createClient } from 'redis';
import type { RedisClient } from '../src/client.js';

/** A connected client of one library, and its end. */
export interface Connected {
  readonly client: RedisClient;
  close(): void;
}

export type Library = 'ioredis' | 'node-redis';

export const LIBRARIES: readonly Library[] = ['ioredis', 'node-redis'];

export async function connect(library: Library, port: number): Promise<Connected> {
  if (library === 'ioredis') {
    const client = new Redis({
      port,
      host: '127.0.0.1',
      lazyConnect: true,
      retryStrategy: () => 20,
    });
    // Of a test that ends the server: the store's own errors are what is looked at.
    client.on('error', () => undefined);
    await client.connect();
    return { client, close: () => client.disconnect() };
  }
  const client = createClient({ socket: { port, host: '127.0.0.1', reconnectStrategy: 20 } });
  client.on('error', () => undefined);
  await client.connect();
  return { client, close: () => client.destroy() };
}
