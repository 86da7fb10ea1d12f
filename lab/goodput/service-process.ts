/** The service in a process of its own: answers after a time, and limits its questions. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const [latency, limit] = process.argv.slice(2).map(Number) as [number, number];
let [windowEnd, left] = [0, 0];

const server = createServer((request, response) => {
  const reference = request.url!.split('/').at(-1)!;
  const now = performance.now();
  if (now >= windowEnd) [windowEnd, left] = [now + 1_000, limit];
  const isRefused = limit > 0 && left-- <= 0;
  process.send!('asked');
  setTimeout(() => {
    response.setHeader('content-type', 'application/json');
    if (isRefused) {
      const seconds = String(Math.ceil((windowEnd - now) / 1_000));
      response.writeHead(429, { 'retry-after': seconds }).end('{}');
      return;
    }
    const status = reference.startsWith('page') ? 'pending' : 'success';
    const payment = { reference, type: 'payment', amount: 1_000, currency: 'XOF', status };
    response.end(JSON.stringify(payment));
  }, latency);
});
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
