import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { PGlite } from '@electric-sql/pglite';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { ObserveHook } from '@paylink/core';
import { paymentWebhook } from '@paylink/express';
import { createPayments, memoryOrders, type Orders } from '@paylink/payments';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import express, { type Express } from 'express';
import PgBoss from 'pg-boss';
import { pino } from 'pino';
import { pinoHttp } from 'pino-http';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLog, observeInLog } from '../src/pino.js';
import * as prometheus from '../src/prometheus.js';
import { startTelemetry } from './telemetry.js';

// Before the recipes: a meter that was made before the SDK started measures nothing.
const telemetry = startTelemetry();
const { observe, observePayments, observeWithReference, watchUnpaid } =
  await import('../src/opentelemetry.js');
const { carryTrace, runLinked } = await import('../src/queue-links.js');

const payload = { note: 'words-of-the-body' };
const deliveryOf = (reference: string, type?: string) =>
  signedDelivery({ secret: TEST_SECRET, reference, payload, type });
const genuine = deliveryOf('order-genuine');
const failing = deliveryOf('order-failing');
const forged = signedDelivery({ secret: 'a-secret-of-nobody', reference: 'order-forged', payload });
const another = deliveryOf('order-another', 'payment.refunded');
const DELIVERIES = [genuine, forged, another, failing];

/** What must be nowhere unless it is asked for. */
const PRIVATE = [
  TEST_SECRET,
  payload.note,
  ...DELIVERIES.flatMap(({ signature, rawBody }) => [signature, rawBody.toString('base64')]),
];
const REFERENCES = ['order-genuine', 'order-failing', 'order-forged', 'order-another'];

/** Stands for the service: every payment succeeded. */
const confirming = {
  getPayment: async (reference: string) => ({
    reference,
    status: 'success',
    amount: 500,
    currency: 'XOF',
  }),
};

/** Orders in memory. The credit of one of them can throw. */
function ordersWith(failing?: string): Required<Orders> {
  const { orders, add } = memoryOrders();
  for (const reference of [...REFERENCES, 'order-settled', 'order-late'])
    add({ reference, amount: 500, currency: 'XOF' });
  return {
    ...orders,
    async credit(payment, context) {
      if (payment.reference === failing) throw new Error('the books are closed');
      return orders.credit(payment, context);
    },
  };
}

const PATIENCE = { timeout: 20_000, interval: 20 };

// The optimising compiler would use more time on PGlite's WebAssembly than these tests take.
setFlagsFromString('--liftoff-only');
/** The merchant's database, and the queue's. */
const db = new PGlite();
afterAll(() => db.close());

let server: Server | undefined;
const closeServer = () => {
  server?.close().closeAllConnections();
  server = undefined;
};
afterEach(closeServer);
beforeEach(() => telemetry.reset());

async function serve(app: Express): Promise<string> {
  const listening = app.listen(0, '127.0.0.1');
  server = listening;
  await once(listening, 'listening');
  return `http://127.0.0.1:${(listening.address() as AddressInfo).port}/webhooks/payments`;
}

/** Sends all deliveries to a receiver with these hooks, and gives the lines of its log. */
async function deliverAll(
  hook: ObserveHook,
  log: (destination: Writable) => pino.Logger = createLog,
): Promise<string> {
  let lines = '';
  const logger = log(
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        lines += chunk.toString();
        done();
      },
    }),
  );
  logger.level = 'debug';
  const app = express();
  app.use(pinoHttp({ logger }));
  const hooks = [hook, observeInLog(logger)];
  const options = {
    secret: TEST_SECRET,
    logger,
    observe: (outcome: Parameters<ObserveHook>[0]) => hooks.forEach((each) => void each(outcome)),
  };
  const payments = createPayments({
    client: confirming,
    orders: ordersWith('order-failing'),
    logger,
  });
  app.post('/webhooks/payments', paymentWebhook(options, payments.receive));
  const url = await serve(app);
  const statuses = [];
  for (const delivery of DELIVERIES) statuses.push((await delivery.send(url)).status);
  expect(statuses).toEqual([200, 401, 200, 503]);
  // A span ends, and pino-http logs, when the reply is out.
  await vi.waitUntil(
    () =>
      telemetry.spans().length === DELIVERIES.length &&
      lines.split('request completed').length > DELIVERIES.length - 1,
    PATIENCE,
  );
  closeServer();
  return lines;
}

const HANDLED = { outcome: 'handled', kind: 'payment.succeeded' };
const REJECTED = { outcome: 'rejected', code: 'invalid_signature' };
const IGNORED = { outcome: 'ignored', kind: 'unrecognized' };
const FAILED = { outcome: 'failed', code: 'orders_unavailable', kind: 'payment.succeeded' };
const OUTCOMES: { outcome: string; code?: string; kind?: string }[] = [
  HANDLED,
  REJECTED,
  IGNORED,
  FAILED,
];

const prefixed = (labels: object) =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [`paylink.${name}`, value]));

/** Those of the needles that are in the text. */
const found = (needles: readonly string[], text: string) =>
  needles.filter((needle) => text.includes(needle));

describe('OpenTelemetry', () => {
  it('has the outcome on the span of the server, and counts by outcome, code and kind', async () => {
    const before = await telemetry.points('paylink.deliveries');
    expect(before).toEqual([]);
    await deliverAll(observe);

    const spans = telemetry.spans();
    expect(spans.map(({ kind }) => kind)).toEqual(Array(4).fill(SpanKind.SERVER));
    expect(
      spans.map(({ attributes }) =>
        Object.entries(attributes)
          .filter(([name]) => name.startsWith('paylink.'))
          .sort(),
      ),
    ).toEqual(
      OUTCOMES.map((labels) =>
        Object.entries({
          ...prefixed(labels),
          ...(labels !== REJECTED && { 'paylink.secret_index': 0 }),
        }).sort(),
      ),
    );

    const counted = await telemetry.points('paylink.deliveries');
    expect(counted.map(({ attributes, value }) => [attributes, value])).toEqual(
      OUTCOMES.map((labels) => [prefixed(labels), 1]),
    );
    for (const [name, most] of [
      ['paylink.delivery.duration', 5],
      ['paylink.delivery.body.size', 500],
    ] as const) {
      const points = await telemetry.points(name);
      expect(points.map(({ attributes }) => attributes)).toEqual(OUTCOMES.map(prefixed));
      for (const { value } of points as unknown as { value: { count: number; max: number } }[]) {
        expect(value.count).toBe(1);
        expect(value.max).toBeGreaterThan(0);
        expect(value.max).toBeLessThan(most);
      }
    }
  });

  it('has no secret, signature, body or reference in any value', async () => {
    await deliverAll(observe);
    const { spans, metrics } = await telemetry.everything();
    expect(found([...PRIVATE, ...REFERENCES], spans + metrics)).toEqual([]);
  });

  it('has the reference of a proven event on the span where it is asked for, and never in a metric', async () => {
    await deliverAll(observeWithReference);
    const { spans, metrics } = await telemetry.everything();
    expect(found(REFERENCES, spans)).toEqual(['order-genuine', 'order-failing', 'order-another']);
    expect(found(PRIVATE, spans)).toEqual([]);
    expect(found([...PRIVATE, ...REFERENCES], metrics)).toEqual([]);
  });
});

describe('across a queue', () => {
  let boss: PgBoss;

  beforeAll(async () => {
    const executeSql = async (text: string, values: unknown[] = []) => {
      const rows =
        values.length > 0
          ? (await db.query(text, values)).rows
          : (await db.exec(text)).flatMap((result) => result.rows);
      return { rows, rowCount: rows.length };
    };
    boss = new PgBoss({ db: { executeSql } });
    await boss.start();
    await boss.createQueue('payments');
  }, 60_000);
  afterAll(() => boss.stop({ graceful: false }));

  interface Job {
    readonly type: string;
    readonly reference: string;
    readonly trace: Record<string, string>;
  }

  it('links each run of the job to the span of its notification, and has the outcome on its own', async () => {
    const app = express();
    const enqueue = async ({ type, reference }: { type: string; reference: string }) => {
      const job: Job = { type, reference, trace: carryTrace() };
      expect(await boss.send('payments', job)).not.toBeNull();
    };
    app.post(
      '/webhooks/payments',
      paymentWebhook({ secret: TEST_SECRET, observe }, { 'payment.succeeded': enqueue }),
    );
    const url = await serve(app);
    expect((await genuine.send(url)).status).toBe(200);
    await vi.waitUntil(() => telemetry.spans().length === 1, PATIENCE);
    const [producer] = telemetry.spans();

    const [fetched] = await boss.fetch<Job>('payments');
    const orders = ordersWith();
    const credit = vi.fn(orders.credit).mockRejectedValueOnce(new Error('the books are closed'));
    const payments = createPayments({
      client: confirming,
      orders: { ...orders, credit },
      observe: observePayments,
      logger: { warn: () => undefined, error: () => undefined },
    });
    const run = ({ trace, type, reference }: Job) =>
      runLinked('payments', trace, () => payments.receive({ type, reference }));
    await expect(run(fetched!.data)).rejects.toMatchObject({ code: 'orders_unavailable' });
    await run(fetched!.data);

    const consumers = telemetry.spans().slice(1);
    expect(
      consumers.map(({ name, kind, status, attributes }) => [
        name,
        kind,
        status.code,
        attributes['paylink.outcome'],
      ]),
    ).toEqual([
      ['process payments', SpanKind.CONSUMER, SpanStatusCode.ERROR, 'orders_unavailable'],
      ['process payments', SpanKind.CONSUMER, SpanStatusCode.UNSET, 'credited'],
    ]);
    const { traceId, spanId } = producer!.spanContext();
    for (const consumer of consumers) {
      expect(consumer.links.map(({ context }) => [context.traceId, context.spanId])).toEqual([
        [traceId, spanId],
      ]);
      expect(consumer.parentSpanContext).toBeUndefined();
      expect(consumer.spanContext().traceId).not.toBe(traceId);
    }
    const { spans } = await telemetry.everything();
    expect(found([...PRIVATE, ...REFERENCES, 'the books are closed'], spans)).toEqual([]);
  }, 30_000);

  it('runs a job that carries no trace in a span without links', async () => {
    expect(await runLinked('payments', {}, async () => 'done')).toBe('done');
    expect(telemetry.spans().map(({ links }) => links)).toEqual([[]]);
  });
});

describe('the ways to the credit', () => {
  it('are counted by their source, with no reference in any label', async () => {
    const register = new Registry();
    const hooks = [observePayments, prometheus.observePaymentsIn(register)];
    const payments = createPayments({
      client: confirming,
      orders: ordersWith(),
      observe: (outcome) => hooks.forEach((each) => each(outcome)),
    });
    const countsBefore = await counts();
    await payments.settle('order-settled');
    await payments.reconcile(['order-late']);
    const text = await register.metrics();
    for (const source of ['settle', 'reconcile']) {
      expect(text).toContain(`paylink_payments_total{source="${source}",outcome="credited"} 1\n`);
      expect((await counts())[source]).toBe((countsBefore[source] ?? 0) + 1);
    }
    const { metrics } = await telemetry.everything();
    expect(found(['order-settled', 'order-late'], text + metrics)).toEqual([]);
  });

  async function counts(): Promise<Record<string, number>> {
    const points = await telemetry.points('paylink.payments');
    const entries = points.map(({ attributes, value }) => [attributes['paylink.source'], value]);
    return Object.fromEntries(entries) as Record<string, number>;
  }
});

describe('Prometheus', () => {
  it('counts by outcome, code and kind, with no secret, signature, body or reference in any label', async () => {
    const register = new Registry();
    await deliverAll(prometheus.observeIn(register));
    const text = await register.metrics();
    for (const { outcome, code = '', kind = '' } of OUTCOMES) {
      const labels = `outcome="${outcome}",code="${code}",kind="${kind}"`;
      expect(text).toContain(`paylink_deliveries_total{${labels}} 1\n`);
      expect(text).toContain(`paylink_delivery_duration_seconds_count{${labels}} 1\n`);
      expect(text).toContain(`paylink_delivery_body_bytes_bucket{le="256",${labels}} 1\n`);
    }
    expect(found([...PRIVATE, ...REFERENCES], text)).toEqual([]);
  });
});

describe('the age of the oldest unpaid order', () => {
  const register = new Registry();
  const since = async (): Promise<Date | undefined> => {
    const sql =
      'SELECT min(created_at) AS since FROM orders WHERE paid_at IS NULL AND given_up_at IS NULL';
    const { rows } = await db.query<{ since: Date | null }>(sql);
    return rows[0]!.since ?? undefined;
  };
  const ages = async (): Promise<number[]> => {
    const [point] = await telemetry.points('paylink.orders.oldest_unpaid.age');
    const line = /^paylink_orders_oldest_unpaid_age_seconds ([\d.]+)$/m.exec(
      await register.metrics(),
    );
    return [point!.value as number, Number(line![1])];
  };

  beforeAll(async () => {
    await db.exec(
      'CREATE TABLE orders (reference text PRIMARY KEY, created_at timestamptz, paid_at timestamptz, given_up_at timestamptz)',
    );
    watchUnpaid(since);
    prometheus.watchUnpaid(register, since);
  }, 30_000);

  it('is that of the merchant’s own query, at each reading', async () => {
    expect(await ages()).toEqual([0, 0]);
    await db.exec(`INSERT INTO orders VALUES ('abandoned', now() - interval '9 days', NULL, now()), ('paid', now() - interval '2 days', now(), NULL),
      ('waiting', now() - interval '600 seconds', NULL, NULL), ('new', now(), NULL, NULL)`);
    for (const age of await ages())
      expect(age).toSatisfy((seconds: number) => seconds >= 600 && seconds < 660);
    await db.exec("UPDATE orders SET paid_at = now() WHERE reference IN ('waiting', 'new')");
    expect(await ages()).toEqual([0, 0]);
  });

  it('is not a number while the query fails, and Prometheus still reads the other metrics', async () => {
    const failing = new Registry();
    prometheus.observeIn(failing)({ outcome: 'failed', bodyBytes: 1, durationMs: 1 });
    prometheus.watchUnpaid(failing, () => Promise.reject(new Error('the database is down')));
    const text = await failing.metrics();
    expect(text).toMatch(/^paylink_orders_oldest_unpaid_age_seconds NaN$/im);
    expect(text).toContain('paylink_deliveries_total{outcome="failed"');
  });
});

describe('pino', () => {
  it('has one line for each delivery, beside what Paylink itself reports', async () => {
    const lines = (await deliverAll(() => undefined))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const ours = lines.filter(({ msg }) => msg === 'payment webhook');
    expect(ours.map(({ level, paylink }) => [level, paylink])).toMatchObject(
      OUTCOMES.map(({ kind: type, ...rest }) => [
        rest.outcome === 'rejected' ? 20 : 30,
        { ...rest, ...(type && { type }) },
      ]),
    );
    const warnings = lines.filter(({ level }) => level === 40).map(({ msg }) => msg);
    expect(warnings).toContainEqual(expect.stringContaining('[paylink] 401 invalid_signature'));
  });

  it('has no secret, signature or body in any line, and the reference only of a failed delivery', async () => {
    const lines = await deliverAll(() => undefined);
    expect(lines).toContain('"x-service-signature":"[Redacted]"');
    expect(found(PRIVATE, lines)).toEqual([]);
    expect(found(REFERENCES, lines)).toEqual(['order-failing']);
  });

  it('writes the signatures into its log if the redaction of pino-http is left out', async () => {
    const lines = await deliverAll(
      () => undefined,
      (destination) => pino(destination),
    );
    expect(
      found(
        DELIVERIES.map(({ signature }) => signature),
        lines,
      ),
    ).toHaveLength(DELIVERIES.length);
  });
});
