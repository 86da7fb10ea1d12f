import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { checkout } from './checkout';
import { paymentRoutes } from './payment-webhook';

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (await paymentRoutes(req, res)) return;
  const isCheckout = req.method === 'POST' && req.url === '/checkout';
  const body = isCheckout ? await checkout(15_000) : { error: 'not_found' };
  const headers = { 'content-type': 'application/json' };
  res.writeHead(isCheckout ? 201 : 404, headers).end(JSON.stringify(body));
}

const server = createServer((req, res) => {
  answer(req, res).catch(() => res.writeHead(503).end());
});
server.listen(3000, () => console.log('http://localhost:3000'));
