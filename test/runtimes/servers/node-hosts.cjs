/** The hosts on node:http, for Node and for whatever offers it. */
const { createServer } = require('node:http');
const { SECRET } = require('./checks.cjs');

const listen = (server) =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));

async function bytesOf(req) {
  const pieces = [];
  for await (const piece of req) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function startHosts({ node, express, expressWebhook }, { handlers, check }) {
  const webhook = node.paymentWebhook({ secret: SECRET }, handlers);
  const impatient = node.paymentWebhook({ secret: SECRET, bodyTimeout: 200 }, handlers);

  const app = express();
  app.post('/webhooks/payments', expressWebhook.paymentWebhook({ secret: SECRET }, handlers));
  app.post(
    '/impatient',
    expressWebhook.paymentWebhook({ secret: SECRET, bodyTimeout: 200 }, handlers),
  );

  const core = createServer(async (req, res) => {
    const { status, body } = await check(req.url, await bytesOf(req), req.headers);
    res.writeHead(status).end(body);
  });

  return {
    node: await listen(
      createServer((req, res) => (req.url === '/impatient' ? impatient : webhook)(req, res)),
    ),
    express: await listen(createServer(app)),
    core: await listen(core),
  };
}

module.exports = { startHosts };
