import { createHmac } from 'node:crypto';
import express, { type Express } from 'express';
import type { createShadow } from './shadow.js';

interface Settings {
  readonly secret: string;
  readonly creditOrder: (reference: string) => unknown;
  readonly shadow: ReturnType<typeof createShadow>;
}

interface WithRawBody {
  rawBody: Uint8Array;
}

/**
 * The old receiver, which verifies its parser's output. The `verify` option, which keeps the bytes,
 * and the line with `shadow` are new.
 */
export function createApp({ secret, creditOrder, shadow }: Settings): Express {
  const app = express();
  app.use(
    express.json({
      verify: (req, _res, bytes) => {
        (req as unknown as WithRawBody).rawBody = bytes;
      },
    }),
  );
  app.post('/webhooks/payments', async (req, res) => {
    const body = req.body as { reference: string };
    const genuine =
      createHmac('sha256', secret).update(JSON.stringify(body)).digest('hex') ===
      req.headers['x-service-signature'];
    shadow(genuine, (req as unknown as WithRawBody).rawBody, req.headers);
    if (!genuine) return void res.status(401).send('bad signature');
    await creditOrder(body.reference);
    res.send('ok');
  });
  return app;
}
