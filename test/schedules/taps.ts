/** Records the bytes of both sides of the proxy, and compares them. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { Changes } from '../../packages/testing/src/schedules/changes.js';
import { readDatabase } from '../../packages/testing/src/schedules/database.js';
import { Proxy } from '../../packages/testing/src/schedules/proxy.js';

/** A relay that hashes what passes in each direction, over all connections by their order. */
async function openTap(port: number) {
  const passed: { up: ReturnType<typeof createHash>; down: ReturnType<typeof createHash> }[] = [];
  const closed: Promise<unknown>[] = [];
  let bytes = 0;
  const server = createServer((client) => {
    const hashes = { up: createHash('sha256'), down: createHash('sha256') };
    passed.push(hashes);
    const upstream = connect({ host: '127.0.0.1', port });
    // `once` would reject if a socket fails before it closes.
    for (const socket of [client, upstream])
      closed.push(new Promise((resolve) => socket.once('close', resolve)));
    client.on('data', (chunk: Buffer) => {
      hashes.up.update(chunk);
      bytes += chunk.length;
      upstream.write(chunk);
    });
    upstream.on('data', (chunk: Buffer) => {
      hashes.down.update(chunk);
      bytes += chunk.length;
      client.write(chunk);
    });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const)
      from.on('error', () => undefined).once('close', () => to.end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close();
      await Promise.allSettled(closed);
    },
    bytes: () => bytes,
    digests: () => passed.map(({ up, down }) => `${up.digest('hex')} ${down.digest('hex')}`),
  };
}

export interface Tapped {
  /** The address for the driver. */
  readonly url: string;
  /** Waits for the driver's end. Returns the bytes, and each connection's digests on both sides. */
  end(): Promise<{ bytes: number; before: string[]; behind: string[] }>;
}

/** Opens driver → tap → proxy → tap → database. */
export async function openTapped(url: string): Promise<Tapped> {
  const database = readDatabase(url);
  const behind = await openTap(database.port);
  const proxy = await Proxy.open({ ...database, port: behind.port }, new Changes());
  const before = await openTap(Number(new URL(proxy.url).port));
  return {
    url: database.urlAt(before.port),
    async end() {
      await before.close();
      await behind.close();
      proxy.close();
      return { bytes: before.bytes(), before: before.digests(), behind: behind.digests() };
    },
  };
}
