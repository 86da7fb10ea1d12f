import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'vitest';
import { testAdapter } from '@paylink/testing/adapter';
import { paymentWebhook } from '../src/adapter.js';

testAdapter(
  'the adapter of docs/writing-an-adapter.md',
  async ({ options, handler }) => {
    const webhook = paymentWebhook(options, handler);
    const server = createServer((req, res) => void webhook(req, res)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const close = (): void => {
      server.close();
      server.closeAllConnections();
    };
    return { port: (server.address() as AddressInfo).port, close };
  },
  { describe, it },
);
