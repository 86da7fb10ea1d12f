/**
 * A function URL of AWS, played by a server: payload format 2.0 to the function, and its result
 * back to the sender.
 */
import { createServer } from 'node:http';
import { handler } from './dist/handler.js';

const gateway = createServer(async (req, res) => {
  const pieces = [];
  try {
    for await (const piece of req) pieces.push(piece);
  } catch {
    return res.destroy();
  }
  const { pathname, search } = new URL(req.url, 'http://127.0.0.1');
  const headers = Object.fromEntries(
    Object.entries(req.headersDistinct).map(([name, values]) => [name, values.join(',')]),
  );
  const event = {
    version: '2.0',
    routeKey: '$default',
    rawPath: pathname,
    rawQueryString: search.slice(1),
    headers,
    requestContext: {
      accountId: '1',
      apiId: 'shop',
      domainName: '127.0.0.1',
      domainPrefix: 'shop',
      http: {
        method: req.method,
        path: pathname,
        protocol: 'HTTP/1.1',
        sourceIp: '127.0.0.1',
        userAgent: '',
      },
      requestId: 'request',
      routeKey: '$default',
      stage: '$default',
      time: '01/Jan/2026:00:00:00 +0000',
      timeEpoch: 0,
    },
    body: Buffer.concat(pieces).toString('base64'),
    isBase64Encoded: true,
  };
  const context = { awsRequestId: 'request', getRemainingTimeInMillis: () => 30_000 };
  try {
    const result = await handler(event, context);
    const body = Buffer.from(result.body ?? '', result.isBase64Encoded ? 'base64' : 'utf8');
    for (const [name, values] of Object.entries(result.multiValueHeaders ?? {}))
      res.setHeader(name, values);
    res.writeHead(result.statusCode, result.headers).end(body);
  } catch {
    // As AWS answers for a function that failed.
    res
      .writeHead(502, { 'content-type': 'application/json' })
      .end('{"message":"Internal Server Error"}');
  }
});
gateway.listen(Number(process.env.PORT), '127.0.0.1');
