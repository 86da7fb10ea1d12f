import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net';
import { startEmulator } from '@paylink/emulator';
import { expect, it } from 'vitest';
import { createClient, isPaylinkError, type PaymentLink } from '../src/index.js';

interface Seen {
  readonly key: string;
  readonly body: string;
}

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * A proxy between client and service that, while faults are left, breaks a connection at a random
 * byte of either way.
 */
async function startFaultyProxy(target: number, random: () => number, faults: number) {
  const counts = { left: faults, beforeSent: 0, afterSent: 0, withinReply: 0 };
  const sockets = new Set<Socket>();
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    track(client);
    const service = track(createConnection(target, '127.0.0.1'));
    const broken = counts.left > 0 && random() < 0.8;
    const way = broken
      ? (['beforeSent', 'afterSent', 'withinReply'] as const)[Math.floor(random() * 3)]!
      : undefined;
    if (way !== undefined) {
      counts.left--;
      counts[way]++;
    }
    const breakOff = (): void => {
      if (random() < 0.5) client.resetAndDestroy();
      else client.destroy();
      service.destroy();
    };
    client.on('data', (chunk: Buffer) => {
      if (way === 'beforeSent') {
        service.write(chunk.subarray(0, Math.floor(random() * chunk.length)), breakOff);
        return;
      }
      service.write(chunk);
    });
    service.on('data', (chunk: Buffer) => {
      // The service has done its work: only the answer is lost.
      if (way === 'afterSent') breakOff();
      else if (way === 'withinReply')
        client.write(chunk.subarray(0, 1 + Math.floor(random() * (chunk.length - 1))), breakOff);
      else client.write(chunk);
    });
    client.on('close', () => service.destroy());
    service.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    counts,
    close: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => {
          resolve();
        });
      }),
  };
}

/** Stands before the emulator and notes what reaches it, whole requests only. */
async function startRecorder(emulatorBaseUrl: string) {
  const { createServer: createHttpServer } = await import('node:http');
  const seen: Seen[] = [];
  const answers = new Map<string, Set<string>>();
  const server = createHttpServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('error', () => undefined).on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      void (async () => {
        const body = Buffer.concat(chunks).toString();
        const key = String(req.headers['idempotency-key']);
        seen.push({ key, body });
        const headers = {
          authorization: req.headers.authorization!,
          'content-type': 'application/json',
          'idempotency-key': key,
        };
        const response = await fetch(emulatorBaseUrl + req.url!.slice('/api'.length), {
          method: 'POST',
          headers,
          body,
        });
        const text = await response.text();
        answers.set(key, (answers.get(key) ?? new Set()).add(`${response.status} ${text}`));
        // One connection for each request, so that each meets the proxy anew.
        res
          .writeHead(response.status, { 'Content-Type': 'application/json', Connection: 'close' })
          .end(text);
      })();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    answers,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(resolve);
      }),
  };
}

/** A call is given up after three retries; a later call with its key still gets the one link. */
async function persist(
  create: (options: { idempotencyKey: string | undefined }) => Promise<PaymentLink>,
): Promise<string> {
  for (let idempotencyKey: string | undefined; ;) {
    try {
      return (await create({ idempotencyKey })).token;
    } catch (error) {
      if (!isPaylinkError(error) || error.code !== 'network_error') throw error;
      idempotencyKey = error.idempotencyKey!;
    }
  }
}

it('L01 creates each link exactly once through 100 random network faults', async () => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`network faults: SEED=${seed}`);
  // A key that comes again gives the same link; without one, the second link would be refused or be
  // another.
  const emulator = await startEmulator({ assumed: { duplicateReference: 'allow' } });
  const recorder = await startRecorder(emulator.baseUrl);
  const proxy = await startFaultyProxy(recorder.port, randomOf(seed), 100);
  try {
    const client = createClient({
      baseUrl: `http://127.0.0.1:${proxy.port}/api`,
      apiKey: emulator.apiKey,
    });
    const links = new Map<string, string>();
    let order = 0;
    const createLinks = async (): Promise<void> => {
      while (proxy.counts.left > 0) {
        const reference = `order-${++order}`;
        const link = { amount: order, reference };
        links.set(reference, await persist((options) => client.createPaymentLink(link, options)));
      }
    };
    await Promise.all(Array.from({ length: 6 }, createLinks));
    const { beforeSent, afterSent, withinReply } = proxy.counts;
    console.log(`network faults: ${order} links, ${recorder.seen.length} whole requests`, {
      beforeSent,
      afterSent,
      withinReply,
    });
    expect(beforeSent + afterSent + withinReply).toBe(100);
    // The faults were such that requests came more than once: else this would prove nothing.
    expect(recorder.seen.length).toBeGreaterThan(order);

    const bodies = new Map<string, Set<string>>();
    for (const { key, body } of recorder.seen)
      bodies.set(key, (bodies.get(key) ?? new Set()).add(body));
    expect(bodies.size).toBe(order);
    for (const [key, sent] of bodies) expect([key, sent.size]).toEqual([key, 1]);
    // One answer for each key, byte for byte, and so one link for each order.
    for (const given of recorder.answers.values())
      expect([...given]).toEqual([expect.stringMatching(/^201 /)]);
    expect(new Set(links.values()).size).toBe(order);
  } finally {
    await proxy.close();
    await recorder.close();
    await emulator.close();
  }
}, 120_000);
