import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { paymentWebhook } from '@paylink/express';
import { onTestFinished } from 'vitest';
import { SECRET } from './paylink.js';

/** Listens until the test ends, and gives the origin. */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export interface Shop {
  /** Where its webhook is. */
  readonly url: string;
  /** The references that it credited. */
  readonly credited: string[];
}

/** A merchant's shop as its developer would write it. */
export async function openShop(): Promise<Shop> {
  const credited: string[] = [];
  const app = express();
  app.post(
    '/webhooks/payments',
    paymentWebhook(
      { secret: SECRET, bodyTimeout: 1_000 },
      { 'payment.succeeded': async ({ reference }) => void credited.push(reference) },
    ),
  );
  return { url: `${await serve(app as RequestListener)}/webhooks/payments`, credited };
}
