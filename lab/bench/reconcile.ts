/**
 * Measures `reconcile`:
 * `pnpm lab bench-reconcile [references] [concurrency] [milliseconds per read]`. A server in this
 * process plays the service.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@paylink/client';
import { createPayments, memoryStore } from '@paylink/payments';

const [count = 10_000, concurrency = 4, readMs = 20] = process.argv.slice(2).map(Number);

const service = createServer((request, response) => {
  const reference = decodeURIComponent(request.url!.split('/').at(-1)!);
  const payment = { reference, type: 'payment', amount: 1_000, currency: 'XOF', status: 'success' };
  setTimeout(
    () =>
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(payment)),
    readMs,
  );
}).listen(0, '127.0.0.1');
await once(service, 'listening');

const started = performance.now();
const payments = createPayments({
  client: createClient({
    baseUrl: `http://127.0.0.1:${(service.address() as AddressInfo).port}/api`,
    apiKey: 'sk_live_bench.the-secret-part',
  }),
  store: memoryStore(),
  credit: async () => 1,
});
const references = Array.from({ length: count }, (_, index) => `order-${index}`);
const report = await payments.reconcile(references, { concurrency });
const seconds = (performance.now() - started) / 1_000;
console.log(
  `${report.credited.length} references, ${concurrency} at a time, ${readMs} ms a read: ` +
    `${seconds.toFixed(1)} s`,
);
service.close();
service.closeAllConnections();
