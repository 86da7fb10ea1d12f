import express from 'express';
import request from 'supertest';
import { describe, expect, it, vi } from 'vitest';
import { WebhookError } from '@paylink/core';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { paymentWebhook, webhookEvent, type ExpressHost } from '../src/index.js';

const secret = TEST_SECRET;

const post = (app: express.Express, path = '/', delivery = signedDelivery({ secret })) =>
  request(app).post(path).set(delivery.headers).send(delivery.body);

describe('paymentWebhook as a handler', () => {
  it('credits a genuine delivery and refuses a forged one, by supertest as the documentation shows it', async () => {
    const credited: string[] = [];
    const app = express();
    app.post(
      '/webhooks/payments',
      paymentWebhook(
        { secret },
        { 'payment.succeeded': ({ reference }) => void credited.push(reference) },
      ),
    );
    app.use(express.json());
    app.post('/other', (req, res) => res.json(req.body));

    const delivery = signedDelivery({ secret, reference: 'order-42' });
    await request(app)
      .post('/webhooks/payments')
      .set(delivery.headers)
      .send(delivery.body)
      .expect(200, { received: true });
    const forged = signedDelivery({ secret: 'a-secret-of-nobody' });
    await request(app)
      .post('/webhooks/payments')
      .set(forged.headers)
      .send(forged.body)
      .expect(401, { error: 'invalid_signature' });
    expect(credited).toEqual(['order-42']);
    await request(app).post('/other').send({ parsed: true }).expect(200, { parsed: true });
  });

  it('proves a body that is not UTF-8 by its bytes, and refuses it with 400', async () => {
    const app = express().post(
      '/',
      paymentWebhook({ secret }, () => undefined),
    );
    const delivery = signedDelivery({ secret, rawBody: Buffer.from([0xff, 0xfe, 0x00]) });
    await request(app)
      .post('/')
      .set(delivery.headers)
      .send(delivery.body)
      .expect(400, { error: 'invalid_payload' });
  });

  it("gives the handler Express's own request and `signal`, and no means to answer", async () => {
    const handler = vi.fn();
    const app = express().post('/:tenant', paymentWebhook({ secret }, handler));
    await post(app, '/acme').expect(200, { received: true });
    const [, context] = handler.mock.calls[0] as [unknown, { readonly req: express.Request }];
    expect(Object.keys(context).sort()).toEqual(['req', 'signal']);
    expect(context.req.params).toEqual({ tenant: 'acme' });
  });

  it('sends one response if a handler answers by the `req.res` that Express sets', async () => {
    const seen: unknown[] = [];
    const answering = (status: number, fails: boolean) =>
      paymentWebhook({ secret }, (_event, { req }) => {
        req.res!.status(status).send('mine');
        if (fails) throw new Error('after the answer');
      });
    const app = express()
      .post('/returns', answering(202, false))
      .post('/throws', answering(500, true))
      .use(((error, _req, res, next) => {
        seen.push(error);
        if (!res.headersSent) next(error);
      }) satisfies express.ErrorRequestHandler);
    await post(app, '/returns').expect(202, 'mine');
    await post(app, '/throws').expect(500, 'mine');
    expect(seen).toEqual([expect.objectContaining({ message: 'after the answer' })]);
  });

  it('chooses the secret and the tenant by the path', async () => {
    const secrets: Record<string, string> = { a: 'secret-of-tenant-a', b: 'secret-of-tenant-b' };
    const tenants: unknown[] = [];
    const secretOf = ({ req }: ExpressHost) => {
      const tenant = String(req.params['tenant']);
      return { secret: secrets[tenant], tenant };
    };
    const logger = { warn: vi.fn(), error: vi.fn() };
    const handler = ({ tenant }: { readonly tenant?: string | undefined }) =>
      void tenants.push(tenant);
    const app = express().post('/:tenant', paymentWebhook({ secret: secretOf, logger }, handler));
    const delivery = signedDelivery({ secret: 'secret-of-tenant-a' });
    await post(app, '/a', delivery).expect(200);
    await post(app, '/b', delivery).expect(401);
    await post(app, '/c', delivery).expect(503, { error: 'secret_unavailable' });
    expect(tenants).toEqual(['a']);
  });

  it('answers a WebhookError of the handler itself, and gives any other error to next', async () => {
    const seen: unknown[] = [];
    const mine = new Error('mine');
    const app = express()
      .post(
        '/known',
        paymentWebhook({ secret }, () =>
          Promise.reject(new WebhookError('unknown_order', { status: 503 })),
        ),
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
    await request(app)
      .post('/known')
      .set(delivery.headers)
      .send(delivery.body)
      .expect(503, { error: 'unknown_order' });
    await request(app).post('/other').set(delivery.headers).send(delivery.body).expect(500, 'mine');
    expect(seen).toEqual([mine]);
  });

  it('throws at startup for handlers given as undefined, and for a missing secret', () => {
    expect(() => paymentWebhook({ secret }, undefined as never)).toThrow(/^handlers must be a map/);
    expect(() => paymentWebhook({ secret: undefined }, () => undefined)).toThrow(
      /^secret is missing/,
    );
  });
});

describe('paymentWebhook as a gate', () => {
  it('hands the event on', async () => {
    const app = express().post('/', paymentWebhook({ secret }), (req, res) => {
      const { type, reference } = webhookEvent(req);
      res.json({ type, reference });
    });
    await post(app).expect(200, { type: 'payment.succeeded', reference: 'order-42' });
  });

  it('fails closed without a gate in front', async () => {
    const seen: Error[] = [];
    const app = express()
      .post('/', (req, res) => void res.json(webhookEvent(req)))
      .use(((error: Error, _req, res, _next) => {
        seen.push(error);
        res.sendStatus(500);
      }) satisfies express.ErrorRequestHandler);
    await post(app).expect(500);
    expect(seen[0]?.message).toMatch(/put paymentWebhook\(\{ secret \}\) in front/);
  });

  it('acknowledges kinds that are not configured, unless the gate passes them on', async () => {
    const next = vi.fn((_req: express.Request, res: express.Response) => void res.sendStatus(204));
    const app = express()
      .post('/closed', paymentWebhook({ secret }), next)
      .post('/open', paymentWebhook({ secret, unrecognized: 'pass' }), next);
    const delivery = signedDelivery({ secret, type: 'payment.refunded' });
    await request(app)
      .post('/closed')
      .set(delivery.headers)
      .send(delivery.body)
      .expect(200, { received: true });
    expect(next).not.toHaveBeenCalled();
    await request(app).post('/open').set(delivery.headers).send(delivery.body).expect(204);
  });

  it('chooses the secret and the tenant by the request', async () => {
    const secrets: Record<string, string> = { acme: 'secret-of-tenant-acme' };
    const secretOf = ({ req }: ExpressHost) => {
      const tenant = String(req.params['tenant']);
      return { secret: secrets[tenant], tenant };
    };
    const app = express().post('/:tenant', paymentWebhook({ secret: secretOf }), (req, res) => {
      res.json(webhookEvent(req).tenant);
    });
    await post(app, '/acme', signedDelivery({ secret: secrets['acme']! })).expect(200, '"acme"');
    await post(app, '/acme').expect(401);
  });
});
