import { randomUUID } from 'node:crypto';
import type { PaylinkClient } from '@paylink/client';
import { paymentWebhook } from '@paylink/express';
import type { Payments } from '@paylink/payments';
import type { Auth } from 'better-auth';
import { fromNodeHeaders, toNodeHandler } from 'better-auth/node';
import express, { type Express } from 'express';

/** A shop's orders. Each row contains its customer's id from Better Auth's `user` table. */
export interface Orders {
  insert(order: { reference: string; amount: number; userId: string }): Promise<void>;
  customerOf(reference: string): Promise<string | undefined>;
}

export interface Parts {
  /** The object that betterAuth() returns. */
  readonly auth: {
    readonly handler: Auth['handler'];
    readonly api: Pick<Auth['api'], 'getSession'>;
  };
  readonly client: PaylinkClient;
  readonly orders: Orders;
  readonly payments: Payments;
  readonly secret: string | undefined;
}

export function createApp({ auth, client, orders, payments, secret }: Parts): Express {
  const app = express();
  // The service has no session. The signature proves who sent the request.
  app.post('/webhooks/payments', paymentWebhook({ secret }, payments.receive));
  // Keep both above the parser, because both read the body themselves.
  app.all('/api/auth/*splat', toNodeHandler(auth));
  app.use(express.json());

  const customerOf = async (headers: express.Request['headers']): Promise<string | undefined> =>
    (await auth.api.getSession({ headers: fromNodeHeaders(headers) }))?.user.id;

  app.post('/orders', async (req, res) => {
    const userId = await customerOf(req.headers);
    if (userId === undefined) return void res.sendStatus(401);
    const [reference, amount] = [randomUUID(), 15_000];
    await orders.insert({ reference, amount, userId });
    const link = { amount, reference, single_use: true };
    const { url } = await client.createPaymentLink(link, { idempotencyKey: reference });
    res.status(201).json({ reference, pay: url });
  });

  // The reference comes from the address bar, so compare the order's customer before you settle.
  app.get('/orders/:reference', async (req, res) => {
    const { reference } = req.params;
    const userId = await customerOf(req.headers);
    if (userId === undefined) return void res.sendStatus(401);
    if ((await orders.customerOf(reference)) !== userId) return void res.sendStatus(404);
    const { status } = await payments.settle(reference);
    res.json({ status });
  });
  return app;
}
