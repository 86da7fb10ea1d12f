/**
 * The host of the Fetch API for Bun, Deno and workerd: the webhook, one that waits for no slow
 * sender, and the checks.
 */
module.exports = function createFetchHost(paymentWebhook, secret, { handlers, check }) {
  const webhooks = {
    '/webhooks/payments': paymentWebhook({ secret }, handlers),
    '/impatient': paymentWebhook({ secret, bodyTimeout: 200 }, handlers),
  };
  return async (request, host) => {
    const { pathname } = new URL(request.url);
    if (Object.hasOwn(webhooks, pathname)) return webhooks[pathname](request, host);
    const { status, body } = await check(
      pathname,
      new Uint8Array(await request.arrayBuffer()),
      request.headers,
    );
    return new Response(body, { status });
  };
};
