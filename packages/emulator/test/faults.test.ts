import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { BROKEN_OFF } from '../src/deliveries/send.js';
import { FAULTS, type Fault } from '../src/faults/faults.js';
import { judge, type Verdict } from '../src/faults/verdict.js';
import {
  startEmulator,
  type DeliveryAttempt,
  type Emulator,
  type EmulatorOptions,
} from '../src/index.js';
import type { PaymentStatus } from '../src/payments/payment.js';
import { startCoreReceiver } from './core-receiver.js';
import { createLink, FIXED, readPayment } from './merchant.js';
import { startRawReceiver, type RawRequest } from './raw-receiver.js';

// Longer than a busy machine needs, so only a fault runs into it.
vi.setConfig({ testTimeout: 30_000 });

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const { close } of open.splice(0)) await close();
});

async function setUp(
  statusFor?: Parameters<typeof startRawReceiver>[0],
  options: EmulatorOptions = {},
) {
  const receiver = await startRawReceiver(statusFor);
  const emulator = await startEmulator({ ...options, webhook: { url: receiver.url } });
  open.push(emulator, receiver);
  await createLink(emulator);
  return { receiver, emulator };
}

const GENUINE = '{"reference":"order-1"}';

function mac({ webhookSecret }: Emulator, body: string | Buffer): string {
  return createHmac('sha256', webhookSecret).update(body).digest('hex');
}

function valuesOf(name: string, { lines }: RawRequest): string[] {
  return lines
    .filter((line) => line.toLowerCase().startsWith(`${name}: `))
    .map((line) => line.slice(name.length + 2));
}

async function sendOne(fault: Fault, options?: EmulatorOptions) {
  const { receiver, emulator } = await setUp(undefined, options);
  await emulator.sendFault('order-1', fault);
  const [request = expect.fail(), ...others] = receiver.received;
  expect(others).toEqual([]);
  return {
    request,
    emulator,
    signatures: valuesOf('x-service-signature', request),
    events: valuesOf('x-service-event', request),
  };
}

describe('sendFault on the wire', () => {
  it('duplicate: sends the genuine notification ten times at once', async () => {
    const { receiver, emulator } = await setUp();
    const outcome = await emulator.sendFault('order-1', 'duplicate');
    expect(receiver.received).toHaveLength(10);
    expect(new Set(receiver.received.map(({ text }) => text)).size).toBe(1);
    expect(receiver.received[0]!.body.toString()).toBe(GENUINE);
    expect(valuesOf('x-service-signature', receiver.received[0]!)).toEqual([
      mac(emulator, GENUINE),
    ]);
    const { attempts } = outcome.delivery;
    const latestStart = Math.max(...attempts.map(({ startedAt }) => startedAt.getTime()));
    expect(
      attempts.every(
        ({ startedAt, durationMs }) => startedAt.getTime() + durationMs >= latestStart,
      ),
    ).toBe(true);
    await emulator.sendFault('order-1', 'duplicate', { times: 3 });
    expect(receiver.received).toHaveLength(13);
  });

  it('repeated: sends the genuine notification again after its answer', async () => {
    const { receiver, emulator } = await setUp();
    const { delivery } = await emulator.sendFault('order-1', 'repeated');
    expect(receiver.received.map(({ body }) => body.toString())).toEqual([GENUINE, GENUINE]);
    const [first, second] = delivery.attempts;
    expect(second!.startedAt.getTime()).toBeGreaterThanOrEqual(
      Math.floor(first!.startedAt.getTime() + first!.durationMs) - 1,
    );
  });

  it('late: sends the genuine notification after the delay', async () => {
    const { receiver, emulator } = await setUp();
    const before = Date.now();
    const { delivery } = await emulator.sendFault('order-1', 'late', { delay: 60 });
    expect(delivery.attempts[0]!.startedAt.getTime() - before).toBeGreaterThanOrEqual(58);
    expect(receiver.received.map(({ body }) => body.toString())).toEqual([GENUINE]);
  });

  it('reordered: sends the success before the earlier event of another kind', async () => {
    const { receiver, emulator } = await setUp();
    await emulator.sendFault('order-1', 'reordered');
    expect(receiver.received.map((request) => valuesOf('x-service-event', request))).toEqual([
      ['payment.succeeded'],
      ['payment.failed'],
    ]);
    for (const request of receiver.received)
      expect(valuesOf('x-service-signature', request)).toEqual([mac(emulator, request.body)]);
  });

  it('tampered: changes one letter and keeps the genuine signature', async () => {
    const { request, emulator, signatures } = await sendOne('tampered');
    const sent = request.body.toString();
    expect(sent).toHaveLength(GENUINE.length);
    expect(
      Array.from(sent).filter((character, index) => character !== GENUINE[index]),
    ).toHaveLength(1);
    expect(() => JSON.parse(sent) as unknown).not.toThrow();
    expect(signatures).toEqual([mac(emulator, GENUINE)]);
  });

  it('wrong_secret: signs the genuine body with another secret', async () => {
    const { request, emulator, signatures } = await sendOne('wrong_secret');
    expect(request.body.toString()).toBe(GENUINE);
    expect(signatures).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
    expect(signatures).not.toEqual([mac(emulator, GENUINE)]);
  });

  it('unsigned: sends no signature header', async () => {
    const { request, signatures, events } = await sendOne('unsigned');
    expect([request.body.toString(), signatures, events]).toEqual([
      GENUINE,
      [],
      ['payment.succeeded'],
    ]);
  });

  it('relabelled: signs the unpaid payment and claims a success in the event header', async () => {
    const notificationBody = ({ reference, status }: { reference: string; status: string }) => ({
      reference,
      status,
    });
    const { request, emulator, signatures, events } = await sendOne('relabelled', {
      assumed: { notificationBody },
    });
    expect(JSON.parse(request.body.toString())).toEqual({
      reference: 'order-1',
      status: 'pending',
    });
    expect([signatures, events]).toEqual([[mac(emulator, request.body)], ['payment.succeeded']]);
  });

  it('unknown_event: sends the genuine body and signature with the kind otherEvent', async () => {
    const { request, emulator, signatures, events } = await sendOne('unknown_event', {
      assumed: { otherEvent: 'payment.refunded' },
    });
    expect([request.body.toString(), signatures, events]).toEqual([
      GENUINE,
      [mac(emulator, GENUINE)],
      ['payment.refunded'],
    ]);
  });

  it('re_serialised: sends the same JSON in other bytes with the genuine signature', async () => {
    const { request, emulator, signatures } = await sendOne('re_serialised');
    expect(request.body.toString()).not.toBe(GENUINE);
    expect(JSON.parse(request.body.toString())).toEqual(JSON.parse(GENUINE));
    expect(signatures).toEqual([mac(emulator, GENUINE)]);
  });

  it('gzip: compresses the body, sets Content-Encoding and keeps the signature of the plain bytes', async () => {
    const { request, emulator, signatures } = await sendOne('gzip');
    expect(valuesOf('content-encoding', request)).toEqual(['gzip']);
    expect(gunzipSync(request.body).toString()).toBe(GENUINE);
    expect(signatures).toEqual([mac(emulator, GENUINE)]);
  });

  it('two_signatures: sends a genuine and a forged signature line', async () => {
    const { request, emulator, signatures } = await sendOne('two_signatures');
    expect(signatures).toEqual([mac(emulator, GENUINE), expect.stringMatching(/^[0-9a-f]{64}$/)]);
    expect(signatures[1]).not.toBe(signatures[0]);
    expect(request.body.toString()).toBe(GENUINE);
  });

  it('bom: signs a byte order mark in front of the body', async () => {
    const { request, emulator, signatures } = await sendOne('bom');
    expect(request.body.toString('hex')).toBe(`efbbbf${Buffer.from(GENUINE).toString('hex')}`);
    expect(signatures).toEqual([mac(emulator, request.body)]);
  });

  it('slow: sends the genuine body one byte at a time', async () => {
    const { receiver, emulator } = await setUp();
    await emulator.sendFault('order-1', 'slow', { interval: 3 });
    const [request = expect.fail()] = receiver.received;
    expect(request.body.toString()).toBe(GENUINE);
    expect(valuesOf('content-length', request)).toEqual([String(GENUINE.length)]);
    expect(request.pieces).toBeGreaterThan(5);
  });

  it('slow: stops at an answer that comes before the end', async () => {
    const { receiver, emulator } = await setUp();
    await receiver.close();
    const { createServer } = await import('node:http');
    const early = createServer((_, res) => res.writeHead(408, { Connection: 'close' }).end());
    await new Promise<void>((resolve) =>
      early.listen(Number(new URL(receiver.url).port), '127.0.0.1', resolve),
    );
    const outcome = await emulator.sendFault('order-1', 'slow', { interval: 600_000 });
    expect(outcome.delivery.attempts[0]).toMatchObject({ response: { status: 408 } });
    expect(outcome.asExpected).toBe(true);
    early.closeAllConnections();
    await new Promise((resolve) => early.close(resolve));
  });

  it('aborted: sends part of the announced body and resets the connection', async () => {
    const { receiver, emulator } = await setUp();
    const { asExpected, delivery } = await emulator.sendFault('order-1', 'aborted');
    expect(delivery.attempts[0]).toMatchObject({ error: 'broken off on purpose' });
    expect(asExpected).toBe(true);
    await vi.waitUntil(() => receiver.received.length === 1, 10_000);
    const [request = expect.fail()] = receiver.received;
    expect(valuesOf('content-length', request)).toEqual([String(GENUINE.length)]);
    expect(GENUINE.startsWith(request.body.toString())).toBe(true);
    expect(request.body.length).toBeLessThan(GENUINE.length);
    expect(request.brokenBy).toBe('ECONNRESET');
  });
});

describe('sendFault', () => {
  it('reports every line and byte that it sent', async () => {
    const { receiver, emulator } = await setUp();
    for (const fault of ['two_signatures', 'gzip', 'duplicate'] as const)
      await emulator.sendFault('order-1', fault, { times: 1 });
    const told = emulator
      .deliveries()
      .flatMap(({ attempts }) => attempts.map(({ request }) => request));
    const texts = told.map(({ headerLines, rawBody }) => {
      const head = [
        'POST /webhooks/payments?shop=1 HTTP/1.1',
        ...headerLines.map((line) => line.join(': ')),
      ].join('\r\n');
      return `${head}\r\n\r\n${Buffer.from(rawBody).toString('latin1')}`;
    });
    expect(texts).toEqual(receiver.received.map(({ text }) => text));
  });

  it('neither retries, nor changes the payment, nor allows redeliver()', async () => {
    const { receiver, emulator } = await setUp(() => 500, {
      assumed: { firstRetryDelay: 1, longestRetryDelay: 1 },
    });
    const { delivery, asExpected, expected, rows } = await emulator.sendFault(
      'order-1',
      'tampered',
    );
    expect({ asExpected, expected, rows }).toEqual({
      asExpected: false,
      expected: FAULTS.tampered.expected,
      rows: ['C01'],
    });
    expect(delivery).toMatchObject({ state: 'sent', fault: 'tampered', attemptCount: 1 });
    expect(delivery).not.toHaveProperty('nextAttemptAt');
    await expect(emulator.redeliver(delivery.id)).rejects.toThrow('sendFault');
    expect(await readPayment(emulator, 'order-1')).toMatchObject({ status: 'pending' });
    expect(receiver.received).toHaveLength(1);
  });

  it('refuses unknown faults, options and payments by name', async () => {
    const { emulator } = await setUp();
    await expect(emulator.sendFault('order-1', 'nope' as Fault)).rejects.toMatchObject({
      name: 'ConfigurationError',
      option: 'fault',
    });
    await expect(emulator.sendFault('order-1', 'constructor' as Fault)).rejects.toMatchObject({
      option: 'fault',
    });
    await expect(emulator.sendFault('order-1', 'late', { delay: 0 })).rejects.toMatchObject({
      option: 'delay',
    });
    await expect(
      emulator.sendFault('order-1', 'late', { wait: 1 } as object),
    ).rejects.toMatchObject({ option: 'wait' });
    await expect(emulator.sendFault('nobody', 'late')).rejects.toThrow('no payment');
    expect(emulator.deliveries()).toEqual([]);
    const without = await startEmulator();
    open.push(without);
    await expect(without.sendFault('order-1', 'late')).rejects.toThrow('webhook.url');
  });

  it('ends if the emulator closes during a delay', async () => {
    const { emulator } = await setUp();
    const late = emulator.sendFault('order-1', 'late', { delay: 2_000_000 });
    const slow = emulator.sendFault('order-1', 'slow', { interval: 600_000 });
    await vi.waitUntil(() => emulator.deliveries().length === 2, 10_000);
    await emulator.close();
    for (const { delivery, asExpected } of await Promise.all([late, slow])) {
      expect(delivery.attempts[0]!.error).toBe('the emulator was closed');
      expect(asExpected).toBe(false);
    }
  });

  it('lists its rows of attacks for every fault in the README', () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
    for (const [fault, { rows }] of Object.entries(FAULTS)) {
      const line = readme.split('\n').find((text) => text.startsWith(`| \`${fault}\``));
      expect(line, fault).toBeDefined();
      for (const row of rows) expect(line).toContain(row);
    }
  });
});

describe('a correct receiver', () => {
  const FAST = { delay: 1, interval: 1 };

  async function setUpRight() {
    const secret = 'the secret of a shop of this test';
    const holder: { emulator?: Emulator } = {};
    const confirm = {
      getPayment: (reference: string) =>
        readPayment(holder.emulator!, reference) as Promise<{ reference: string; status: string }>,
    };
    const receiver = await startCoreReceiver(secret, confirm);
    const emulator = await startEmulator({ webhook: { url: receiver.url, secret } });
    holder.emulator = emulator;
    open.push(emulator, receiver);
    await createLink(emulator, { ...FIXED, single_use: true });
    return { receiver, emulator };
  }

  const optionsFor = (fault: Fault) =>
    fault === 'late'
      ? { delay: FAST.delay }
      : fault === 'slow'
        ? { interval: FAST.interval }
        : undefined;

  it.each(Object.keys(FAULTS) as Fault[])(
    'answers the fault %s as expected and credits a paid payment once',
    async (fault) => {
      const { receiver, emulator } = await setUpRight();
      await emulator.pay('order-1');
      await vi.waitUntil(() => emulator.deliveries()[0]?.state === 'delivered', {
        timeout: 10_000,
      });
      const { asExpected, delivery } = await emulator.sendFault(
        'order-1',
        fault,
        optionsFor(fault),
      );
      expect([
        delivery.attempts.map(({ response, error }) => response?.status ?? error),
        asExpected,
      ]).toEqual([expect.anything(), true]);
      expect(receiver.credited).toEqual(['order-1']);
    },
  );

  it('answers every fault as expected and credits nothing unless the payment succeeded', async () => {
    const send = async (status: 'pending' | 'failed' | 'cancelled'): Promise<void> => {
      const { receiver, emulator } = await setUpRight();
      if (status === 'failed') await emulator.fail('order-1');
      if (status === 'cancelled') await emulator.cancel('order-1');
      const outcomes = await emulator.sendAllFaults('order-1');
      expect(outcomes.map(({ fault }) => fault)).toEqual(Object.keys(FAULTS));
      expect(outcomes.filter(({ asExpected }) => !asExpected)).toEqual([]);
      expect(new Set(outcomes.map(({ delivery }) => delivery.paymentStatus))).toEqual(
        new Set([status]),
      );
      expect(receiver.credited).toEqual([]);
    };
    await Promise.all([send('pending'), send('failed'), send('cancelled')]);
  });
});

describe('the verdict', () => {
  const answered = (...statuses: (number | string)[]) =>
    statuses.map((status, index): DeliveryAttempt => {
      const common = {
        number: index + 1,
        startedAt: new Date(),
        durationMs: 1,
        request: {} as DeliveryAttempt['request'],
      };
      if (typeof status === 'string') return { ...common, error: status };
      return { ...common, response: { status, headers: {}, body: '', truncated: false } };
    });
  const acknowledged = (status: number): boolean => status >= 200 && status <= 299;

  it.each<[Fault, PaymentStatus, (number | string)[], Verdict]>([
    ['duplicate', 'success', Array<number>(10).fill(503), 'unexpected'],
    ['duplicate', 'success', [...Array<number>(9).fill(503), 200], 'expected'],
    ['duplicate', 'success', [204, 202], 'expected'],
    ['duplicate', 'pending', Array<number>(10).fill(503), 'expected'],
    ['duplicate', 'pending', [200, 500], 'unexpected'],
    ['late', 'pending', [503], 'expected'],
    ['late', 'pending', [409], 'expected'],
    ['late', 'pending', [401], 'unexpected'],
    ['late', 'cancelled', [200], 'expected'],
    ['late', 'success', [503], 'unexpected'],
    ['late', 'success', [401], 'unexpected'],
    ['tampered', 'success', [403], 'expected'],
    ['tampered', 'pending', [200], 'unexpected'],
    ['tampered', 'pending', [503], 'unexpected'],
    ['unsigned', 'success', [500], 'unexpected'],
    ['gzip', 'success', [400], 'expected'],
    ['gzip', 'success', [200], 'unexpected'],
    ['bom', 'success', [200], 'tolerated'],
    ['two_signatures', 'success', [200], 'tolerated'],
    ['unknown_event', 'success', [404], 'tolerated'],
    ['reordered', 'success', [200, 422], 'tolerated'],
    ['reordered', 'success', [422, 422], 'unexpected'],
    ['slow', 'success', [408], 'expected'],
    ['slow', 'success', ['no answer in 10000 ms'], 'unexpected'],
    ['aborted', 'success', [BROKEN_OFF], 'expected'],
    ['aborted', 'success', ['nothing listens at http://127.0.0.1:1 (ECONNREFUSED)'], 'unexpected'],
  ])('on %s with payment %s and answers %j is %s', (fault, status, statuses, verdict) => {
    expect(judge(fault, [status], answered(...statuses), acknowledged)).toBe(verdict);
  });

  it('accepts an answer that was right before or after a concurrent payment', () => {
    expect(judge('late', ['pending', 'success'], answered(503), acknowledged)).toBe('expected');
    expect(judge('late', ['success', 'success'], answered(503), acknowledged)).toBe('unexpected');
  });

  it('is unexpected for a server that answers every fault alike', async () => {
    const statuses: readonly (readonly [status: number, right: readonly string[]])[] = [
      [
        200,
        [
          'duplicate',
          'repeated',
          'late',
          'reordered',
          'relabelled',
          'unknown_event',
          'two_signatures',
          'bom',
          'slow',
        ],
      ],
      [500, []],
      [503, ['two_signatures', 'bom']],
    ];
    const send = async ([status, right]: (typeof statuses)[number]): Promise<void> => {
      const { emulator } = await setUp(() => status);
      await emulator.pay('order-1');
      const outcomes = await emulator.sendAllFaults('order-1');
      const accepted = outcomes.filter(({ asExpected }) => asExpected).map(({ fault }) => fault);
      expect(accepted.filter((fault) => fault !== 'aborted')).toEqual(right);
    };
    await Promise.all(statuses.map(send));
  });
});
