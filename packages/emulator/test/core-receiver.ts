import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createReceiver } from '@paylink/core';
import { createPayments, memoryStore, type PaymentClient } from '@paylink/payments';

/** A correct merchant: core's receiver on a socket, which credits confirmed payments once. */
export async function startCoreReceiver(secret: string, client: PaymentClient) {
  const credited: string[] = [];
  const payments = createPayments({
    client,
    store: memoryStore(),
    credit: async ({ reference }) => {
      credited.push(reference);
      return 1;
    },
  });
  const receiver = createReceiver({ secret }, payments);
  const server = createServer((req, res) => {
    const delivery = {
      method: req.method!,
      header: (name: string) => {
        const value = req.headers[name.toLowerCase()];
        return Array.isArray(value) ? value.join(', ') : value;
      },
      body: async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of req) chunks.push(chunk as Buffer);
        return Buffer.concat(chunks);
      },
    };
    receiver.receive(delivery, {}).then(
      ({ status, headers, body }) => res.writeHead(status, headers).end(body),
      () => res.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    credited,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}
