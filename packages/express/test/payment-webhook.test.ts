import express from 'express';
import request from 'supertest';
import { describe, expect, it, vi } from 'vitest';
import { memoryStore, WebhookError } from '@paylink/core';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { paymentWebhook, webhookEvent } from '../src/index.js';

const secret = TEST_SECRET;

describe('paymentWebhook as a handler', () => {
  it('credits a genuine delivery and refuses a forged one, by supertest as the documents show it', async () => {
    const credited: string[] = [];
    const app = express();
    app.post(
      '/webhooks/payments',
      paymentWebhook({ secret }, { 'payment.succeeded': ({ reference }) => void credited.push(reference) }),
    );
    app.use(express.json());
    app.post('/other', (req, res) => res.json(req.body));

    const delivery = signedDelivery({ secret, reference: 'order-42' });
    await request(app).post('/webhooks/payments').set(delivery.headers).send(delivery.body).expect(200, { received: true });
    const forged = signedDelivery({ secret: 'a-secret-of-nobody' });
    await request(app).post('/webhooks/payments').set(forged.headers).send(forged.body).expect(401, { error: 'invalid_signature' });
    expect(credited).toEqual(['order-42']);
    await request(app).post('/other').send({ parsed: true }).expect(200, { parsed: true });
  });

  it('takes a body that is not UTF-8 from supertest as it is: 400, since its signature is right', async () => {
    const app = express().post(
      '/',
      paymentWebhook({ secret }, () => undefined),
    );
    const delivery = signedDelivery({ secret, rawBody: Buffer.from([0xff, 0xfe, 0x00]) });
    await request(app).post('/').set(delivery.headers).send(delivery.body).expect(400, { error: 'invalid_payload' });
  });

  it('gives the handler Express’s own request, with its parameters, and a response to write', async () => {
    const app = express().post(
      '/:tenant',
      paymentWebhook({ secret }, (_event, { req, res }) => {
        res.status(202).json({ tenant: req.params['tenant'] });
      }),
    );
    const delivery = signedDelivery({ secret });
    await request(app).post('/acme').set(delivery.headers).send(delivery.body).expect(202, { tenant: 'acme' });
  });

  it('keeps the response from the handler with `idempotency`, and runs it once', async () => {
    const handler = vi.fn();
    const app = express().post('/', paymentWebhook({ secret, idempotency: memoryStore() }, handler));
    const delivery = signedDelivery({ secret });
    for (let time = 0; time < 3; time++) await request(app).post('/').set(delivery.headers).send(delivery.body).expect(200);
    expect(handler).toHaveBeenCalledOnce();
    expect(Object.keys(handler.mock.calls[0]![1] as object).sort()).toEqual(['req', 'signal']);
  });

  it('chooses a tenant’s secret by the path (H12)', async () => {
    const secrets: Record<string, string> = { a: 'secret-of-tenant-a', b: 'secret-of-tenant-b' };
    const app = express().post(
      '/:tenant',
      paymentWebhook({ secret: ({ req }) => secrets[String(req.params['tenant'])] }, () => undefined),
    );
    const delivery = signedDelivery({ secret: 'secret-of-tenant-a' });
    await request(app).post('/a').set(delivery.headers).send(delivery.body).expect(200);
    await request(app).post('/b').set(delivery.headers).send(delivery.body).expect(401);
    await request(app).post('/c').set(delivery.headers).send(delivery.body).expect(503, { error: 'secret_unavailable' });
  });

  it('answers a WebhookError of the handler itself, and hands anything else to next', async () => {
    const seen: unknown[] = [];
    const mine = new Error('mine');
    const app = express()
      .post(
        '/known',
        paymentWebhook({ secret }, () => Promise.reject(new WebhookError('unknown_order', { status: 503 }))),
      )
      .post(
        '/other',
        paymentWebhook({ secret }, () => Promise.reject(mine)),
      )
      .use(((error, _req, res, _next) => {
        seen.push(error);
        res.status(500).send('mine');
      }) satisfies express.ErrorRequestHandler);
    const delivery = signedDelivery({ secret });
    await request(app).post('/known').set(delivery.headers).send(delivery.body).expect(503, { error: 'unknown_order' });
    await request(app).post('/other').set(delivery.headers).send(delivery.body).expect(500, 'mine');
    expect(seen).toEqual([mine]);
  });

  it('throws at set-up, and not at the first request, for handlers given as undefined', () => {
    expect(() => paymentWebhook({ secret }, undefined as never)).toThrow('handlers must be a function or a map');
    expect(() => paymentWebhook({ secret: undefined }, () => undefined)).toThrow(/^secret is missing/);
    // Its stack begins at the merchant's line.
    expect(() => paymentWebhook({ secret: undefined }, () => undefined)).toThrow(
      expect.objectContaining({ stack: expect.stringMatching(/^[^\n]+\n[^\n]*payment-webhook\.test\.ts/) as string }),
    );
  });
});

describe('a handler that sets a status and sends nothing', () => {
  const send = (app: express.Express) => {
    const delivery = signedDelivery({ secret });
    return request(app).post('/').set(delivery.headers).send(delivery.body);
  };

  it.each([400, 404, 503])('has refused by %i', async (status) => {
    const app = express().post(
      '/',
      paymentWebhook({ secret }, (_event, { res }) => void res.status(status)),
    );
    await send(app).expect(status, { error: 'handler_failed' });
  });

  it.each([201, 302])('has not refused by %i', async (status) => {
    const app = express().post(
      '/',
      paymentWebhook({ secret }, (_event, { res }) => void res.status(status)),
    );
    await send(app).expect(200, { received: true });
  });

  it('has not refused by a status that middleware in front of it had set', async () => {
    const app = express()
      .use((_req, res, next) => {
        res.status(404);
        next();
      })
      .post(
        '/',
        paymentWebhook({ secret }, () => undefined),
      );
    await send(app).expect(200, { received: true });
  });
});

describe('paymentWebhook as a gate', () => {
  it('hands the event on, typed by its own events', async () => {
    const gate = paymentWebhook({ secret });
    const app = express().post('/', gate, (req, res) => {
      const type: 'payment.succeeded' = gate.event(req).type;
      res.json({ type, reference: webhookEvent(req).reference });
    });
    const delivery = signedDelivery({ secret });
    await request(app)
      .post('/')
      .set(delivery.headers)
      .send(delivery.body)
      .expect(200, { type: 'payment.succeeded', reference: 'order-42' });
  });

  it('leaves nothing to read to a parser between it and its handler', async () => {
    const gate = paymentWebhook({ secret });
    const app = express()
      .use('/webhooks', gate)
      .use(express.json(), express.text(), express.raw({ type: '*/*' }))
      .post('/webhooks/payments', (req, res) => void res.json({ reference: gate.event(req).reference }));
    const delivery = signedDelivery({ secret });
    const path = '/webhooks/payments';
    await request(app).post(path).set(delivery.headers).send(delivery.body).expect(200, { reference: 'order-42' });
  });

  it('fails closed where no gate is in front, or another one (F22)', async () => {
    const gate = paymentWebhook({ secret });
    const other = paymentWebhook({ secret });
    const seen: Error[] = [];
    const app = express()
      .post('/none', (req, res) => void res.json(webhookEvent(req)))
      .post('/other', other, (req, res) => void res.json(gate.event(req)))
      .use(((error: Error, _req, res, _next) => {
        seen.push(error);
        res.sendStatus(500);
      }) satisfies express.ErrorRequestHandler);
    const delivery = signedDelivery({ secret });
    for (const path of ['/none', '/other']) await request(app).post(path).set(delivery.headers).send(delivery.body).expect(500);
    expect(seen.map(({ message }) => message)).toEqual(
      Array(2).fill(expect.stringMatching(/put paymentWebhook\(\{ secret \}\) in front/)),
    );
  });

  it('acknowledges kinds that are not configured, unless they are to pass', async () => {
    const next = vi.fn((_req: express.Request, res: express.Response) => void res.sendStatus(204));
    const app = express()
      .post('/closed', paymentWebhook({ secret }), next)
      .post('/open', paymentWebhook({ secret, unrecognized: 'pass' }), next);
    const delivery = signedDelivery({ secret, type: 'payment.refunded' });
    await request(app).post('/closed').set(delivery.headers).send(delivery.body).expect(200, { received: true });
    expect(next).not.toHaveBeenCalled();
    await request(app).post('/open').set(delivery.headers).send(delivery.body).expect(204);
  });

  it('warns once where nothing stands behind the gate (F22)', async () => {
    const logger = { warn: vi.fn(), error: vi.fn() };
    const app = express().post('/', paymentWebhook({ secret, logger }));
    const delivery = signedDelivery({ secret });
    for (let time = 0; time < 2; time++) await request(app).post('/').set(delivery.headers).send(delivery.body).expect(404);
    const warning = expect.stringContaining('nothing stands behind the gate') as string;
    await vi.waitFor(() => expect(logger.warn).toHaveBeenCalledExactlyOnceWith(warning));
  });

  it.each([
    ['answers 404 and has read the event', 404, true],
    ['has read the event and answers 200', 200, true],
    ['does not read the event and answers 204', 204, false],
  ])('warns of no handler that %s (F22)', async (_what, status, reads) => {
    const logger = { warn: vi.fn(), error: vi.fn() };
    const gate = paymentWebhook({ secret, logger });
    const app = express().post('/', gate, (req, res) => {
      if (reads) gate.event(req);
      res.sendStatus(status);
    });
    const delivery = signedDelivery({ secret });
    for (let time = 0; time < 2; time++) await request(app).post('/').set(delivery.headers).send(delivery.body).expect(status);
    expect(logger.warn).not.toHaveBeenCalled();
  });

  it('refuses what needs a handler to run around', () => {
    expect(() => paymentWebhook({ secret, idempotency: memoryStore() } as never)).toThrow('idempotency is an unknown option');
  });
});
