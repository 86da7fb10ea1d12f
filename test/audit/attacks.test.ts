/**
 * Uses the attack kit like a merchant's tests: supertest, Fastify's inject, a Fetch handler.
 * Expects exact statuses.
 */
import { paymentWebhook as onExpress } from '@paylink/express';
import { paymentWebhook as onFastify } from '@paylink/fastify';
import { paymentWebhook as onFetch } from '@paylink/fetch';
import { attacks, type Attack } from '@paylink/testing';
import express from 'express';
import fastify from 'fastify';
import request from 'supertest';
import { afterAll, describe, expect, it } from 'vitest';

const secret = 'a-secret-of-a-merchant';
const logger = { warn: () => undefined, error: () => undefined };
const PATH = '/webhooks/payments';

const handled: string[] = [];
const handlers = {
  'payment.succeeded': ({ reference }: { readonly reference: string }) =>
    void handled.push(reference),
};

const app = express().post(PATH, onExpress({ secret, logger }, handlers));
const server = fastify();
void server.register(onFastify({ url: PATH, secret, logger }, handlers));
const handle = onFetch({ secret, logger }, handlers);

afterAll(() => server.close());

const clients: Readonly<Record<string, (attack: Attack) => Promise<number>>> = {
  'supertest on Express': async ({ delivery }) =>
    (await request(app).post(PATH).set(delivery.headers).send(delivery.body)).status,
  'inject on Fastify': async ({ delivery }) =>
    (await server.inject(delivery.toInject(PATH))).statusCode,
  'a Request on a Fetch handler': async ({ delivery }) =>
    (await handle(delivery.toRequest(`http://localhost${PATH}`))).status,
};

describe.each(Object.entries(clients))('%s', (_, send) => {
  it.each(attacks({ secret }).map((attack) => [attack.name, attack] as const))(
    '%s',
    async (_name, attack) => {
      handled.length = 0;
      expect(await send(attack)).toBe(attack.status);
      if (attack.category !== 'genuine') expect(handled).toEqual([]);
    },
  );
});
