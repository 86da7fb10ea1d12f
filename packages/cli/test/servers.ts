import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import express from 'express';
import { paymentWebhook } from '@paylink/express';
import { onTestFinished } from 'vitest';
import { newFolder, SECRET } from './paylink.js';

/** Listens until the test ends, and returns the origin. */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Reads the exact bytes of a request. */
export const bodyOf = (req: IncomingMessage): Promise<Buffer> => buffer(req);

/** The signature that the service would send. */
export const signatureOf = (body: string | Uint8Array, secret = SECRET): string =>
  createHmac('sha256', secret).update(body).digest('hex');

/** Listens with a self-signed certificate. */
export async function serveSelfSigned(): Promise<string> {
  const folder = newFolder();
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const files = ['-days', '1', '-subj', '/CN=localhost', '-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', ...curve, ...files], { stdio: 'ignore' });
  const server = createSecureServer(
    { key: readFileSync(key), cert: readFileSync(cert) },
    (_req, res) => res.end(),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export interface Shop {
  /** The webhook's address. */
  readonly url: string;
  /** The credited references. */
  readonly credited: string[];
}

// The shop shares a console with the command.
const SILENT = { warn: () => undefined, error: () => undefined };

/** A merchant's shop, written as a developer would. */
export async function openShop(): Promise<Shop> {
  const credited: string[] = [];
  const app = express();
  app.post(
    '/webhooks/payments',
    paymentWebhook(
      { secret: SECRET, bodyTimeout: 1_000, logger: SILENT },
      { 'payment.succeeded': async ({ reference }) => void credited.push(reference) },
    ),
  );
  return { url: `${await serve(app as RequestListener)}/webhooks/payments`, credited };
}
