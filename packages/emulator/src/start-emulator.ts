import { inspect } from 'node:util';
import { Hono } from 'hono';
import { createControl } from './api/control.js';
import { createApi } from './api/endpoints.js';
import { RateLimiter } from './api/rate-limit.js';
import { EmulatorError } from './base/emulator-error.js';
import { report } from './base/report.js';
import { Outbox } from './deliveries/outbox.js';
import type { Emulator } from './emulator.js';
import { createSettings, type EmulatorOptions, type Settings } from './options.js';
import { createDashboard } from './pages/dashboard/routes.js';
import { createHostedPage } from './pages/hosted/routes.js';
import { Actions } from './payments/actions.js';
import { Ledger } from './payments/ledger.js';
import { isForEmulator } from './server/request-guard.js';
import { listen } from './server/server.js';

/**
 * Starts the Payment Link Service on this machine: its API, the payment page, signed notifications
 * and a dashboard.
 *
 * @throws ConfigurationError with the invalid option's name, or the system's Error, such as
 *   `EADDRINUSE`
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const settings = await createSettings(options);
  const { apiKey, assumed, merchant, target, webhookSecret } = settings;
  const app = new Hono();
  const server = await listen(settings, async (request) => app.fetch(request));
  const payUrl = settings.payUrl ?? server.origin;
  const baseUrl = `${server.origin}/api`;
  const limiter = new RateLimiter(assumed.rateLimit);
  const outbox = new Outbox(settings);
  const ledger = new Ledger({
    assumed,
    payUrl,
    onSuccess: (payment, delivery) => outbox.notify(payment, delivery),
  });
  const actions = new Actions(ledger);
  let isClosed = false;

  protect(app, settings, payUrl);
  app.route('/api', createApi({ ...settings, ledger, limiter }));
  app.route('/control', createControl(apiKey, actions));
  app.route('/link', createHostedPage(ledger, merchant));
  const webhookUrl = target?.url.href;
  app.route('/dashboard', createDashboard({ ledger, outbox, baseUrl, webhookUrl }));
  app.get('/', (c) => c.redirect('/dashboard', 303));

  function open(): Actions {
    if (isClosed) throw new EmulatorError('emulator_closed', 'the emulator is closed');
    return actions;
  }

  return hideSecrets({
    baseUrl,
    payUrl,
    dashboardUrl: `${payUrl}/dashboard`,
    apiKey,
    webhookSecret,
    createLink: async (link) => open().createLink(link),
    pay: async (reference, choice = {}) => open().pay(reference, choice),
    fail: async (reference) => open().settle(reference, 'failed'),
    cancel: async (reference) => open().settle(reference, 'cancelled'),
    deliveries: () => outbox.list(),
    async redeliver(id) {
      open();
      return outbox.resend(id);
    },
    async waitForDelivery(awaited) {
      open();
      outbox.target();
      return outbox.waiting.wait(awaited, () => {
        const status = ledger.findByReference(awaited.reference)?.status;
        return status === undefined
          ? 'this reference has no payment'
          : `none was sent: the payment is ${status}`;
      });
    },
    async reset() {
      open();
      limiter.reset();
      ledger.reset();
      await outbox.reset();
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      outbox.close();
      await server.close();
    },
  });
}

/** Answers only requests for this emulator, and a failure with 500. */
function protect(app: Hono, { host, allowRemote }: Settings, payUrl: string): void {
  const names = allowRemote ? [host, new URL(payUrl).hostname] : undefined;
  app.use(async (c, next) => {
    if (isForEmulator(c.req.raw, names)) return next();
    const advice = 'Set its name with --host <name> --allow-remote.';
    return c.text(`This emulator does not answer requests for that host. ${advice}\n`, 421);
  });
  app.onError((error, c) => {
    report(error);
    return c.text('The emulator failed: read its console.\n', 500);
  });
}

/** Hides the two secrets from a log of the whole object. Property access still works. */
function hideSecrets(emulator: Emulator): Emulator {
  const hidden = () => ({ ...emulator, apiKey: '(hidden)', webhookSecret: '(hidden)' });
  return Object.defineProperties(emulator, {
    [inspect.custom]: { value: hidden },
    toJSON: { value: hidden },
  });
}
