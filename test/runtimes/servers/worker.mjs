import * as core from '@paylink/core';
import { paymentWebhook } from '@paylink/fetch';
import { createChecks } from './checks.cjs';
import createFetchHost from './fetch-host.cjs';

// All of it at the top of the module, where a Worker may do nothing asynchronous and has no
// environment yet.
const checks = createChecks(core);
const handle = createFetchHost(
  paymentWebhook,
  ({ env }) => ({ secret: env.SECRET, tenant: null }),
  checks,
);

export default { fetch: (request, env) => handle(request, { env }) };
