import { createServer, type IncomingMessage } from 'node:http';
import { handler } from './handler.ts';
import { checkout, payments } from './payments.ts';

interface Answer {
  status: number;
  headers?: Record<string, string>;
  body: string;
}

/** Calls the function as an AWS function URL does. For your machine only. */
async function invoke(req: IncomingMessage): Promise<Answer> {
  const pieces: Buffer[] = [];
  for await (const piece of req) pieces.push(piece as Buffer);
  const event = {
    version: '2.0',
    requestContext: { http: { method: req.method ?? '' } },
    headers: Object.fromEntries(
      Object.entries(req.headers).map(([name, value]) => [name, String(value)]),
    ),
    body: Buffer.concat(pieces).toString('base64'),
    isBase64Encoded: true,
  };
  const { statusCode, headers, body } = await handler(event);
  return { status: statusCode, headers: headers as Record<string, string>, body: body ?? '' };
}

async function answer(req: IncomingMessage): Promise<Answer> {
  if (req.url === '/webhooks/payments') return invoke(req);
  if (req.method === 'POST') return { status: 201, body: JSON.stringify(await checkout(15_000)) };
  const { status } = await payments.settle(req.url?.split('/').at(-1) ?? '');
  return { status: 200, body: JSON.stringify({ status }) };
}

createServer((req, res) => {
  answer(req).then(
    ({ status, headers, body }) => res.writeHead(status, headers).end(body),
    (error: unknown) => {
      console.error(error);
      res.writeHead(502).end();
    },
  );
}).listen(3000, () => console.log('http://localhost:3000'));
