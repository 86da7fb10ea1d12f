/** Measures the memory for senders that send most of a body, piece by piece, and do not finish. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { headOf, jsonBody } from './delivery.js';
import { HOSTS, type HostName } from './hosts/index.js';
import type { Row } from './report.js';
import { startServer } from './server-process.js';

const SENDERS = 1_000;
const BODY = jsonBody(65_536);
const PIECE = 1_024;

const CONTESTANTS = { 'by hand': 'byHand', paylink: 'paylink' } as const;

/** @returns a row with the server's memory per sender, in kilobytes of 1,000 bytes */
export async function measureSlowSenders(host: HostName): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [contestant, name] of Object.entries(CONTESTANTS)) {
    const server = await startServer(host, name);
    const warm = await openSenders(server.port, 20);
    for (const sender of warm) sender.destroy();
    await pause(200);
    const before = { held: await server.memory(), resident: await server.resident() };
    const senders = await openSenders(server.port, SENDERS);
    const held = (await server.memory()) - before.held;
    const resident = (await server.resident()) - before.resident;
    // Closes the server first, because it would complain about each leaving sender.
    for (const sender of senders) sender.on('error', () => undefined);
    server.close();
    await pause(500);
    for (const sender of senders) sender.destroy();
    rows.push({
      load: HOSTS[host].title,
      contestant,
      figures: { 'kB in use': kilobytesEach(held), 'kB resident': kilobytesEach(resident) },
    });
  }
  return rows;
}

function kilobytesEach(bytes: number): number {
  return bytes / 1_000 / SENDERS;
}

/**
 * Sends all but the last byte of each body, in turn. @throws Error if a server answers before the
 * measurement
 */
async function openSenders(port: number, count: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () =>
    connect({ port, host: '127.0.0.1', noDelay: true }),
  );
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const send = (bytes: Buffer): Promise<unknown> =>
    Promise.all(sockets.map((socket) => new Promise((resolve) => socket.write(bytes, resolve))));
  await send(headOf(BODY));
  for (let at = 0; at < BODY.length - 1; at += PIECE)
    await send(BODY.subarray(at, Math.min(at + PIECE, BODY.length - 1)));
  // The kernel has all bytes. The server needs time to read them.
  await pause(1_000);
  if (sockets.some((socket) => socket.bytesRead > 0))
    throw new Error('a server answered before the end of a body');
  return sockets;
}
