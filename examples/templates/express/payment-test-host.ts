import express from 'express';
import { paymentRoutes } from './payment-webhook.js';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SignedDelivery } from '@paylink/testing';

const listener = express().use(paymentRoutes);

export async function startHost() {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/webhooks/payments`;
  return {
    deliver: async (delivery: SignedDelivery) => (await delivery.send(url)).status,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
