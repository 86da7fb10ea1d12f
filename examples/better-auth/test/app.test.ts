import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createClient } from '@paylink/client';
import { startEmulator } from '@paylink/emulator';
import { createPayments, memoryOrders } from '@paylink/payments';
import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { expect, it, onTestFinished } from 'vitest';
import { createApp } from '../src/app.js';

const SECRET = 'the-portals-value-2b7e151628aed2a6';

async function openShop() {
  const emulator = await startEmulator();
  onTestFinished(() => emulator.close());
  const { baseUrl, apiKey } = emulator;
  const client = createClient({ baseUrl, apiKey });
  const memory = memoryOrders();
  const customers = new Map<string, string>();
  const auth = betterAuth({
    baseURL: 'http://127.0.0.1',
    secret: 'a-secret-of-better-auth-0123456789abcdef',
    database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
    emailAndPassword: { enabled: true },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
  });
  const app = createApp({
    auth,
    client,
    secret: SECRET,
    payments: createPayments({ client, orders: memory.orders }),
    orders: {
      async insert({ reference, amount, userId }) {
        memory.add({ reference, amount, currency: 'XOF' });
        customers.set(reference, userId);
      },
      customerOf: async (reference) => customers.get(reference),
    },
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const shop = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const signUp = async (name: string): Promise<string> => {
    const reply = await fetch(`${shop}/api/auth/sign-up/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: 'http://127.0.0.1' },
      body: JSON.stringify({ name, email: `${name}@shop.example`, password: 'correct-horse' }),
    });
    expect(reply.status).toBe(200);
    return reply.headers
      .getSetCookie()
      .map((cookie) => cookie.split(';')[0])
      .join('; ');
  };
  const ask = (path: string, cookie?: string, method = 'GET'): Promise<Response> =>
    fetch(shop + path, { method, headers: cookie === undefined ? {} : { cookie } });
  return { emulator, signUp, ask };
}

it('Only the customer of an order creates, pays and sees it beside Better Auth', async () => {
  const { emulator, signUp, ask } = await openShop();
  const [owner, stranger] = [await signUp('awa'), await signUp('bob')];
  expect((await ask('/orders', undefined, 'POST')).status).toBe(401);
  const { reference } = (await (await ask('/orders', owner, 'POST')).json()) as {
    reference: string;
  };
  await emulator.pay(reference);
  expect((await ask(`/orders/${reference}`)).status).toBe(401);
  expect((await ask(`/orders/${reference}`, stranger)).status).toBe(404);
  expect(await (await ask(`/orders/${reference}`, owner)).json()).toEqual({ status: 'paid' });
});

it('The webhook beside Better Auth needs no session, and refuses a forged notification', async () => {
  const { ask, signUp } = await openShop();
  const session = await signUp('awa');
  expect((await ask('/webhooks/payments', session, 'POST')).status).toBe(401);
});
