/**
 * Shared by the ESM and the CJS consumer: sends a genuine and a forged delivery, and says what came
 * back.
 */
const { signedDelivery } = require('@paylink/testing');

module.exports = async function deliver(app, listenNode) {
  const credited = [];
  const results = {};
  const handlers = { 'payment.succeeded': ({ reference }) => void credited.push(reference) };
  for (const [name, listen] of Object.entries({ express: app, node: listenNode })) {
    const server = await listen(handlers);
    const url = `http://127.0.0.1:${server.address().port}/webhooks/payments`;
    const genuine = signedDelivery({
      secret: 'a-secret-of-the-portal',
      reference: `order-${name}`,
    });
    const forged = signedDelivery({ secret: 'a-secret-of-nobody', reference: `forged-${name}` });
    results[name] = [];
    for (const delivery of [genuine, forged]) {
      const response = await delivery.send(url);
      results[name].push([response.status, await response.text()]);
    }
    server.close();
    server.closeAllConnections();
  }
  console.log(JSON.stringify({ results, credited }));
};
