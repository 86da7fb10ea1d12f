import * as core from '@paylink/core';
import { paymentWebhook } from '@paylink/fetch';
import createChecks from './checks.cjs';
import createFetchHost from './fetch-host.cjs';

// At the top of the module, where a Worker has no environment yet: the secret is asked for with each delivery.
const checks = createChecks(core, ({ env }) => env.SECRET);
const handle = createFetchHost(paymentWebhook, ({ env }) => env.SECRET, checks);

export default { fetch: (request, env) => handle(request, { env }) };
