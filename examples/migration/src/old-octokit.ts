import { Webhooks } from '@octokit/webhooks';
import express, { type Express } from 'express';
import type { createShadow } from './shadow.js';

interface Settings {
  readonly secret: string;
  readonly creditOrder: (reference: string) => unknown;
  readonly shadow: ReturnType<typeof createShadow>;
}

/**
 * The old receiver with a different library, which takes text. `express.raw`, which replaces
 * `express.text`, and the line with `shadow` are new.
 */
export function createApp({ secret, creditOrder, shadow }: Settings): Express {
  const webhooks = new Webhooks({ secret });
  const app = express();
  app.post('/webhooks/payments', express.raw({ type: '*/*' }), async (req, res) => {
    const bytes = req.body as Buffer;
    const body = bytes.toString();
    const genuine = await webhooks.verify(body, `sha256=${req.get('x-service-signature') ?? ''}`);
    shadow(genuine, bytes, req.headers);
    if (!genuine) return void res.status(401).send('bad signature');
    const { reference } = JSON.parse(body) as { reference: string };
    await creditOrder(reference);
    res.send('ok');
  });
  return app;
}
