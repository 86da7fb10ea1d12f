/**
 * Netlify's gateway, played by a server. The function, inside the entry that Netlify's builder puts
 * around it, gets the body in base64, and streams its answer as on AWS Lambda.
 */
import { createServer } from 'node:http';

globalThis.awslambda = {
  streamifyResponse: (handler) => handler,
  HttpResponseStream: {
    from: (res, { statusCode, headers, multiValueHeaders }) =>
      res.writeHead(statusCode, { ...headers, ...multiValueHeaders }),
  },
};
const { handler } = await import('./dist/payments/___netlify-entry-point.mjs');

const gateway = createServer(async (req, res) => {
  const pieces = [];
  try {
    for await (const piece of req) pieces.push(piece);
  } catch {
    return res.destroy();
  }
  const { href, pathname } = new URL(req.url, 'http://127.0.0.1');
  if (pathname !== '/webhooks/payments') return res.writeHead(404).end();
  const event = {
    rawUrl: href,
    path: pathname,
    httpMethod: req.method,
    headers: Object.fromEntries(
      Object.entries(req.headersDistinct).map(([name, values]) => [name, values.join(', ')]),
    ),
    body: Buffer.concat(pieces).toString('base64'),
    isBase64Encoded: true,
  };
  const context = { awsRequestId: 'request', getRemainingTimeInMillis: () => 60_000 };
  try {
    await handler(event, res, context);
  } catch {
    // As Netlify answers for a function that failed.
    if (!res.headersSent) res.writeHead(502);
    res.end();
  }
});
gateway.listen(Number(process.env.PORT), '127.0.0.1');
