import { createHmac } from 'node:crypto';
import express, { type Express } from 'express';
import type { createShadow } from './shadow.js';

interface Settings {
  readonly secret: string;
  readonly creditOrder: (reference: string) => unknown;
  readonly shadow: ReturnType<typeof createShadow>;
}

/** The old hand-written receiver. Only the line with `shadow` is new. */
export function createApp({ secret, creditOrder, shadow }: Settings): Express {
  const app = express();
  app.post('/webhooks/payments', express.raw({ type: '*/*' }), async (req, res) => {
    const body = req.body as Buffer;
    const genuine =
      createHmac('sha256', secret).update(body).digest('hex') ===
      req.headers['x-service-signature'];
    shadow(genuine, body, req.headers);
    if (!genuine) return void res.status(401).send('bad signature');
    const { reference } = JSON.parse(body.toString()) as { reference: string };
    await creditOrder(reference);
    res.send('ok');
  });
  return app;
}
