import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { paymentWebhook } from '@paylink/node';
import { testAdapter } from '@paylink/testing/adapter';

// #region testAdapter
testAdapter('my host', async ({ options, handler }) => {
  const server = createServer(paymentWebhook(options, handler)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
});
// #endregion
