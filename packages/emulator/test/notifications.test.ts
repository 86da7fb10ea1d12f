import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { DEFAULTS, type DeliverySwitches } from '../src/contract/assumed.js';
import type { Payment } from '../src/contract/payment.js';
import { Outbox } from '../src/deliveries/outbox.js';
import type { Emulator, EmulatorOptions } from '../src/index.js';
import { createLink, FIXED } from './merchant.js';
import { startReceiver } from './receiver.js';
import { closeAfterwards, setUp, start } from './set-up.js';

const FAST = { firstRetryDelay: 1, longestRetryDelay: 5 };
async function payOne(emulator: Emulator, reference = 'order-1'): Promise<void> {
  await createLink(emulator, { ...FIXED, reference });
  await emulator.pay(reference);
}

// Longer than any machine needs, so only a fault runs into it. Shorter than the test's limit, so
// this limit reports the fault.
const PATIENCE = 50_000;
vi.setConfig({ testTimeout: 60_000 });
const until = (holds: () => boolean): Promise<boolean> =>
  vi.waitUntil(holds, { timeout: PATIENCE, interval: 5 });

/** Opens a server that ends with its test, and returns its address. */
async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeAfterwards({ close: () => new Promise<void>((resolve) => server.close(() => resolve())) });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** Pays an order, and returns its acknowledged notification. */
async function deliver(emulator: Emulator, reference = 'order-1') {
  await payOne(emulator, reference);
  return emulator.waitForDelivery({ reference, timeout: PATIENCE });
}

describe('a notification', () => {
  it('is a POST with the reference, the event and the HMAC of its exact bytes', async () => {
    const { receiver, emulator } = await setUp();
    await deliver(emulator, 'ordre-é-1');
    const [{ method, url, headers, body } = expect.fail()] = receiver.received;
    expect([method, url]).toEqual(['POST', '/webhooks/payments']);
    expect(body.toString()).toBe('{"reference":"ordre-é-1"}');
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(body.length),
      'x-service-event': 'payment.succeeded',
      'x-service-signature': createHmac('sha256', emulator.webhookSecret)
        .update(body)
        .digest('hex'),
    });
    const sent = [
      'connection',
      'content-length',
      'content-type',
      'host',
      'x-service-event',
      'x-service-signature',
    ];
    expect(Object.keys(headers).sort()).toEqual(sent);
  });

  it('has the assumed body', async () => {
    const assumed = {
      notificationBody: ({ reference, amount, status }: Payment) => ({
        reference,
        amount,
        status,
      }),
    };
    const { receiver, emulator } = await setUp(undefined, { assumed });
    await deliver(emulator);
    expect(JSON.parse(receiver.received[0]!.body.toString())).toMatchObject({
      reference: 'order-1',
      amount: 15_000,
      status: 'success',
    });
  });

  it('is sent only for a success', async () => {
    const { receiver, emulator } = await setUp();
    await createLink(emulator);
    await emulator.fail('order-1');
    await emulator.cancel('order-1');
    await deliver(emulator, 'order-2');
    expect(emulator.deliveries().map(({ reference }) => reference)).toEqual(['order-2']);
    expect(receiver.received).toHaveLength(1);
  });
});

describe('a delivery', () => {
  it('is retried with the same bytes and signature until a 2xx', async () => {
    const { receiver, emulator } = await setUp(
      (_, count) => [500, 404, 302, 503, 204][count - 1] ?? 200,
      { assumed: FAST },
    );
    const { attempts, attemptCount } = await deliver(emulator);
    expect(attempts.map(({ response }) => response?.status)).toEqual([500, 404, 302, 503, 204]);
    expect(attempts.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5]);
    expect(attemptCount).toBe(5);
    expect(new Set(receiver.received.map(({ body }) => body.toString())).size).toBe(1);
    expect(
      new Set(receiver.received.map(({ headers }) => headers['x-service-signature'])).size,
    ).toBe(1);
  });

  it('records its request and response', async () => {
    const { receiver, emulator } = await setUp(() => ({
      status: 201,
      headers: { 'X-Seen': 'yes' },
      body: '{"error":"unknown_order"}',
    }));
    const { attempts } = await deliver(emulator);
    expect(attempts[0]!.request).toMatchObject({
      method: 'POST',
      url: receiver.url,
      body: '{"reference":"order-1"}',
    });
    expect(attempts[0]!.request.headers['X-Service-Signature']).toBe(
      receiver.received[0]!.headers['x-service-signature'],
    );
    expect(attempts[0]!.response).toMatchObject({
      status: 201,
      code: 'unknown_order',
      body: '{"error":"unknown_order"}',
      truncated: false,
    });
    expect(attempts[0]!.response!.headers['x-seen']).toBe('yes');
  });

  it('keeps the beginning of a long answer and the newest attempts', async () => {
    const answer = (_: unknown, count: number) => ({
      status: count < 53 ? 500 : 200,
      body: 'x'.repeat(5_000),
    });
    const { emulator } = await setUp(answer, { assumed: FAST });
    const { attempts, attemptCount } = await deliver(emulator);
    expect(attempts).toHaveLength(50);
    expect(attempts[0]!.number).toBe(4);
    expect(attemptCount).toBe(53);
    expect(attempts[0]!.response).toMatchObject({ body: 'x'.repeat(4_096), truncated: true });
  });

  it('reads no more than the beginning of an answer without end', async () => {
    const server = createTcpServer((socket) => {
      const endless = `HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(5_000)}`;
      socket.on('error', () => undefined).once('data', () => socket.write(endless));
    });
    const emulator = await start({ webhook: { url: await listen(server) } });
    await payOne(emulator);
    const { attempts } = await emulator.waitForDelivery({ reference: 'order-1' });
    expect(attempts).toMatchObject([{ response: { status: 200, truncated: true } }]);
  });

  it('does not follow a redirect', async () => {
    const elsewhere = closeAfterwards(await startReceiver());
    const answer = (_: unknown, count: number) =>
      count === 1 ? { status: 307, headers: { Location: elsewhere.url } } : 200;
    const { emulator } = await setUp(answer, { assumed: FAST });
    await deliver(emulator);
    expect(elsewhere.received).toEqual([]);
  });

  it.each([
    ['a 101', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n', 101],
    ['half a head', 'HTTP/1.1 200 OK\r\nContent-Len', undefined],
    ['nothing', '', undefined],
  ])('is retried after a connection that closes with %s', async (_, text, status) => {
    let count = 0;
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        socket.end(count++ === 0 ? text : 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf');
      });
    });
    const url = await listen(server);
    const emulator = await start({ webhook: { url }, assumed: FAST });
    await payOne(emulator);
    const { attempts } = await emulator.waitForDelivery({ reference: 'order-1' });
    expect(attempts).toHaveLength(2);
    expect(attempts[0]!.response?.status).toBe(status);
    expect(attempts[1]!.response).toMatchObject({ body: 'half', truncated: true });
    if (text === '') expect(attempts[0]!.error).toContain('(ECONNRESET)');
  });

  it('abandons an attempt after deliveryTimeout and retries', async () => {
    const answer = (_: unknown, count: number) => (count === 1 ? 'hang' : 200);
    const { emulator } = await setUp(answer, { assumed: { ...FAST, deliveryTimeout: 50 } });
    await deliver(emulator);
    expect(emulator.deliveries()[0]!.attempts[0]!.error).toBe('no answer in 50 ms');
  });

  it('waits for a random delay that doubles with each failure, up to longestRetryDelay', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 0 });
    const draw = vi.spyOn(Math, 'random').mockReturnValue(0.5);
    onTestFinished(() => {
      vi.useRealTimers();
      draw.mockRestore();
    });
    const assumed = { firstRetryDelay: 1_000_000, longestRetryDelay: 4_000_000 };
    const { emulator } = await setUp(() => 503, { assumed });
    await payOne(emulator);
    const { id } = await emulator.waitForDelivery({ reference: 'order-1', status: 503 });
    const waits = [];
    for (let failures = 1; failures <= 4; failures++) {
      waits.push(emulator.deliveries()[0]!.nextAttemptAt?.getTime());
      await emulator.redeliver(id);
    }
    expect(waits).toEqual([500_000, 1_000_000, 2_000_000, 2_000_000]);
  });

  it('waits for a connection while 64 others are open, and its time begins with the connection', async () => {
    const countTimers = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const waiting: ServerResponse[] = [];
    let isAnswering = false;
    const server = createServer((_, res) => {
      waiting.push(res);
      if (isAnswering) res.end();
    });
    const url = await listen(server);
    const emulator = await start({ webhook: { url } });
    const references = Array.from({ length: 80 }, (_, index) => `order-${index}`);
    for (const reference of references) await emulator.createLink({ ...FIXED, reference });
    const before = countTimers();
    await Promise.all(references.map((reference) => emulator.pay(reference)));
    await until(() => waiting.length >= 64);
    // Each open connection has a time limit. The test server's few timers come on top.
    expect(countTimers() - before).toBeLessThan(72);
    expect(waiting).toHaveLength(64);
    isAnswering = true;
    for (const each of waiting) each.end();
    await until(() => emulator.deliveries().every(({ state }) => state === 'delivered'));
    expect(emulator.deliveries().every(({ attemptCount }) => attemptCount === 1)).toBe(true);
  });

  it('is forgotten after 1,000 later ones, unless it is pending', () => {
    const target = { url: new URL('http://127.0.0.1:9/'), lookup: undefined };
    const onAttempt = (): void => undefined;
    const outbox = new Outbox({
      target,
      webhookSecret: 'a secret of a test',
      assumed: DEFAULTS,
      onAttempt,
    });
    const rest = { type: 'payment', amount: 1, currency: 'XOF', status: 'success' } as const;
    const notify = (reference: string, delivery: DeliverySwitches): void =>
      outbox.notify({ ...rest, reference }, delivery);
    notify('pending', { delay: 1_000_000 });
    for (let count = 0; count <= 1_000; count++) notify(`order-${count}`, { times: 0 });
    const kept = outbox.list().map(({ reference }) => reference);
    expect(kept).toHaveLength(1_001);
    expect(kept.slice(0, 2)).toEqual(['pending', 'order-1']);
    outbox.close();
  });
});

describe('redeliver', () => {
  it('sends an acknowledged delivery again, with the same bytes', async () => {
    const { receiver, emulator } = await setUp();
    await deliver(emulator);
    const { id, attempts } = emulator.deliveries()[0]!;
    expect(await emulator.redeliver(id)).toMatchObject({ number: 2, response: { status: 200 } });
    expect(attempts).toHaveLength(1);
    expect(receiver.received).toHaveLength(2);
    expect(receiver.received[1]!.body.equals(receiver.received[0]!.body)).toBe(true);
    expect(emulator.deliveries()).toHaveLength(1);
  });

  it('starts no retry for a delivery that was acknowledged before', async () => {
    const { emulator } = await setUp((_, count) => (count === 1 ? 200 : 500));
    const { id } = await deliver(emulator);
    expect(await emulator.redeliver(id)).toMatchObject({ number: 2, response: { status: 500 } });
    const [again] = emulator.deliveries();
    expect(again).toMatchObject({ state: 'delivered', attemptCount: 2 });
    expect(again!.nextAttemptAt).toBeUndefined();
  });

  it('replaces the next retry', async () => {
    const slow = { firstRetryDelay: 1_000_000, longestRetryDelay: 1_000_000 };
    const { emulator } = await setUp((_, count) => (count === 1 ? 500 : 200), { assumed: slow });
    await payOne(emulator);
    await until(() => emulator.deliveries()[0]!.nextAttemptAt !== undefined);
    const sending = emulator.redeliver(emulator.deliveries()[0]!.id);
    expect(emulator.deliveries()[0]).not.toHaveProperty('nextAttemptAt');
    await sending;
    expect(emulator.deliveries()[0]).toMatchObject({ state: 'delivered' });
    expect(emulator.deliveries()[0]).not.toHaveProperty('nextAttemptAt');
  });

  /** Sends a delivery again beside its first attempt, which waits. The second attempt fails. */
  async function overlap(assumed: EmulatorOptions['assumed']) {
    const waiting: ServerResponse[] = [];
    const server = createServer((_, res) => void waiting.push(res));
    const emulator = await start({ webhook: { url: await listen(server) }, assumed });
    await payOne(emulator);
    await until(() => waiting.length === 1);
    const again = emulator.redeliver(emulator.deliveries()[0]!.id);
    await until(() => waiting.length === 2);
    waiting[1]!.writeHead(503).end();
    await again;
    return { emulator, waiting };
  }

  it('plans no retry once an earlier attempt is acknowledged', async () => {
    const { emulator, waiting } = await overlap({ firstRetryDelay: 1_000_000 });
    expect(emulator.deliveries()[0]).toHaveProperty('nextAttemptAt');
    waiting[0]!.end();
    const delivery = await emulator.waitForDelivery({ reference: 'order-1' });
    expect(delivery).not.toHaveProperty('nextAttemptAt');
  });

  it('starts no second row of retries beside an attempt that still runs', async () => {
    const { emulator, waiting } = await overlap(FAST);
    await until(() => waiting.length === 3);
    waiting[0]!.writeHead(503).end();
    await until(() => emulator.deliveries()[0]!.attempts.length === 2);
    expect(emulator.deliveries()[0]).not.toHaveProperty('nextAttemptAt');
    expect(emulator.deliveries()[0]!.attemptCount).toBe(3);
    waiting[2]!.writeHead(503).end();
    await until(() => waiting.length === 4);
  });
});

describe('close', () => {
  it('ends at once, although clients hold connections and a status read hangs', async () => {
    const { emulator } = await setUp(undefined, {
      assumed: { statusAnswer: () => new Promise<never>(() => undefined) },
    });
    const { hostname, port } = new URL(emulator.baseUrl);
    const read = `GET /api/v1/payments/x HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${emulator.apiKey}\r\n`;
    const sent = [
      '',
      'POST /api/v1/payment-links HTTP/1.1\r\nHost: localhost\r\n',
      'GET /dashboard HTTP/1.1\r\nHost: localhost\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      `${read}\r\n`,
    ];
    const closed: Promise<unknown>[] = [];
    for (const text of sent) {
      const socket = connect(Number(port), hostname).on('error', () => undefined);
      await once(socket, 'connect');
      socket.resume().write(text);
      closed.push(new Promise((resolve) => socket.once('close', resolve)));
    }
    const before = Date.now();
    await emulator.close();
    await Promise.all(closed);
    expect(Date.now() - before).toBeLessThan(5_000);
  });

  it('stops retries and aborts running attempts', async () => {
    const { receiver, emulator } = await setUp(() => 'hang', { assumed: FAST });
    await payOne(emulator);
    await until(() => receiver.received.length === 1);
    await emulator.close();
    await until(() => emulator.deliveries()[0]!.attempts.length === 1);
    expect(emulator.deliveries()[0]!.attempts[0]!.error).toBe('the emulator was closed');
    expect(emulator.deliveries()[0]).not.toHaveProperty('nextAttemptAt');
    await expect(emulator.redeliver(emulator.deliveries()[0]!.id)).rejects.toThrow('closed');
    await expect(emulator.pay('order-1')).rejects.toThrow('closed');
    await expect(fetch(emulator.baseUrl)).rejects.toThrow();
  });
});
