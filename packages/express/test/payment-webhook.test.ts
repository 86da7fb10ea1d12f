import http from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import request from 'supertest';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { paymentGate, paymentWebhook, webhookEvent, type ExpressHost } from '../src/index.js';

const secret = TEST_SECRET;

const post = (app: express.Express, path = '/', delivery = signedDelivery({ secret })) =>
  request(app).post(path).set(delivery.headers).send(delivery.body);

const secretOf = ({ req }: ExpressHost) => {
  const tenant = String(req.params['tenant']);
  return { secret: tenant === 'c' ? undefined : `secret-of-tenant-${tenant}`, tenant };
};
const delivery = signedDelivery({ secret: 'secret-of-tenant-a' });

describe('paymentWebhook', () => {
  it('lets no handler answer by `req.res` or `req.next`', { tags: 'O09' }, async () => {
    const logger = { warn: vi.fn(), error: vi.fn() };
    const byNext = paymentWebhook({ secret, logger }, (_event, { req }) => {
      (req as express.Request).next!(new Error('mine'));
    });
    const byRes = paymentWebhook({ secret, logger }, (_event, { req }) => {
      (req as express.Request).res!.json({});
    });
    const app = express().post('/next', byNext).post('/res', byRes);
    await post(app, '/next').expect(200, '{"received":true}');
    await post(app, '/res').expect(500, '{"error":"handler_failed"}');
  });

  it('leaves `req.res` to the loggers in front of it', { tags: 'O09' }, async () => {
    const seen: unknown[] = [];
    const app = express().use((req, res, next) => {
      res.on('finish', () => seen.push(req.res === res, req.next === next));
      next();
    });
    app.post(
      '/',
      paymentWebhook({ secret }, () => undefined),
    );
    await post(app).expect(200);
    expect(seen).toEqual([true, true]);
  });

  it('lets middleware reply in the middle of a credit', { tags: 'O09' }, async () => {
    const app = express().use((_req, res, next) => {
      setTimeout(() => res.status(503).json({ error: 'too slow' }), 10);
      next();
    });
    const slow = () => new Promise((resolve) => setTimeout(resolve, 50));
    app.post('/', paymentWebhook({ secret }, slow));
    await post(app).expect(503, { error: 'too slow' });
  });

  it('gives a handler what Express knows of the request', { tags: 'O09' }, async () => {
    const seen: unknown[] = [];
    const webhook = paymentWebhook({ secret }, (_event, { req }) => {
      seen.push(req.params['id'], req.query, req.get('x-shop'), req.ip, req.path, req.method);
    });
    const app = express().post('/:id', webhook);
    await post(app, '/7?a=b').set('x-shop', 'mine').expect(200);
    expect(seen).toEqual([
      '7',
      { a: 'b' },
      'mine',
      expect.stringContaining('127.0.0.1'),
      '/7',
      'POST',
    ]);
  });

  it('names the tenant that the secret function returns', { tags: 'N03' }, async () => {
    const tenants: unknown[] = [];
    const logger = { warn: vi.fn(), error: vi.fn() };
    const webhook = paymentWebhook(
      { secret: secretOf, logger },
      ({ tenant }) => void tenants.push(tenant),
    );
    const app = express().post('/:tenant', webhook);
    await post(app, '/a', delivery).expect(200);
    await post(app, '/b', delivery).expect(401);
    await post(app, '/c', delivery).expect(503, { error: 'secret_unavailable' });
    expect(tenants).toEqual(['a']);
  });
});

describe('paymentGate', () => {
  it('passes the event and its tenant to the next handler', { tags: 'N03' }, async () => {
    const app = express().post('/:tenant', paymentGate({ secret: secretOf }), (req, res) => {
      const { type, reference, tenant } = webhookEvent(req);
      res.json({ type, reference, tenant });
    });
    const event = { type: 'payment.succeeded', reference: 'order-42', tenant: 'a' };
    await post(app, '/a', delivery).expect(200, event);
    await post(app, '/a').expect(401);
  });

  it(
    'settles only when its reply before the end of an upload is written',
    { tags: 'O12' },
    async () => {
      const logger = { warn: vi.fn(), error: vi.fn() };
      const gate = paymentGate({ secret, logger });
      const isEnded = new Promise((resolve) => {
        const app = express().post('/', (req, res, next) => {
          void gate(req, res, next).then(() => resolve(res.writableEnded));
        });
        const server = app.listen(0, () => {
          const { port } = server.address() as AddressInfo;
          const headers = { ...delivery.headers, 'content-length': 70_000 };
          const sender = http.request({ port, method: 'POST', headers });
          sender.on('error', () => undefined).on('response', () => sender.destroy());
          sender.flushHeaders();
        });
        onTestFinished(() => void server.close());
      });
      expect(await isEnded).toBe(true);
    },
  );
});
