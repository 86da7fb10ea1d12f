import { inspect } from 'node:util';
import { Hono } from 'hono';
import { createControl } from './api/control.js';
import { createApi } from './api/endpoints.js';
import { RateLimiter } from './api/rate-limit.js';
import { EmulatorError } from './base/emulator-error.js';
import { report } from './base/report.js';
import type { DeliverySwitches } from './contract/assumed.js';
import type { Link } from './contract/payment.js';
import { validateDelivery } from './contract/validate-assumed.js';
import { Outbox } from './deliveries/outbox.js';
import { Waiting } from './deliveries/waiting.js';
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
  const app = new Hono();
  const server = await listen(settings, async (request) => app.fetch(request));
  const payUrl = settings.payUrl ?? server.origin;
  const baseUrl = `${server.origin}/api`;
  const parts = createParts(settings, payUrl);
  const { ledger, outbox, waiting, limiter, actions, life } = parts;
  addRoutes(app, parts, { ...settings, baseUrl, payUrl });

  function open(): Actions {
    if (life.signal.aborted) throw new EmulatorError('emulator_closed', 'the emulator is closed');
    return actions;
  }

  function requireOutbox(): Outbox {
    if (outbox !== undefined) return outbox;
    const message = 'webhook.url is not set, so the emulator does not send notifications';
    throw new EmulatorError('no_webhook', message);
  }

  return hideSecrets({
    baseUrl,
    payUrl,
    dashboardUrl: `${payUrl}/dashboard`,
    apiKey: settings.apiKey,
    webhookSecret: settings.webhookSecret,
    createLink: async (link) => open().createLink(link),
    pay: async (reference, choice = {}) => open().pay(reference, choice),
    fail: async (reference) => open().settle(reference, 'failed'),
    cancel: async (reference) => open().settle(reference, 'cancelled'),
    deliveries: () => outbox?.list() ?? [],
    async redeliver(id) {
      open();
      return requireOutbox().resend(id);
    },
    async waitForDelivery(awaited) {
      open();
      requireOutbox();
      return waiting.wait(awaited, () => {
        const status = ledger.findByReference(awaited.reference)?.status;
        return status === undefined
          ? 'this reference has no payment'
          : `none was sent: the payment is ${status}`;
      });
    },
    async reset() {
      open();
      waiting.endAll('emulator_reset', 'the emulator was reset');
      limiter.reset();
      ledger.reset();
      await outbox?.reset();
    },
    async close() {
      if (life.signal.aborted) return;
      life.abort();
      waiting.endAll('emulator_closed', 'the emulator was closed');
      outbox?.close();
      await server.close();
    },
  });
}

type Parts = ReturnType<typeof createParts>;

function createParts(settings: Settings, payUrl: string) {
  const { assumed, target, webhookSecret: secret } = settings;
  const waiting = new Waiting(() => outbox?.list() ?? []);
  const onSuccess = (link: Link, delivery: DeliverySwitches | undefined): void => {
    const payment = { ...ledger.paymentOf(link), token: link.token };
    try {
      const body = JSON.stringify(assumed.notificationBody(payment)) as string | undefined;
      if (body === undefined) throw new Error('assumed.notificationBody did not return an object');
      const switches = delivery ?? validateDelivery(assumed.delivery(payment));
      outbox?.send(link.reference, body, switches);
    } catch (error) {
      // The customer has paid all the same.
      report(error);
    }
  };
  const ledger = new Ledger({ assumed, payUrl, onSuccess });
  const outbox: Outbox | undefined =
    target && new Outbox({ target, secret, assumed, onChange: waiting.look });
  return {
    ledger,
    outbox,
    waiting,
    limiter: new RateLimiter(assumed.rateLimit),
    actions: new Actions(ledger),
    /** Aborts when the emulator closes. */
    life: new AbortController(),
  };
}

type Service = Settings & Readonly<Record<'baseUrl' | 'payUrl', string>>;

function addRoutes(app: Hono, parts: Parts, service: Service): void {
  const { ledger, outbox, actions, life } = parts;
  const { apiKey, merchant, target, baseUrl, payUrl, host, allowRemote } = service;
  const names = allowRemote ? [host, new URL(payUrl).hostname] : undefined;
  app.use(async (c, next) => {
    if (isForEmulator(c.req.raw, names)) return next();
    const advice = 'Set its name with --host <name> --allow-remote.';
    return c.text(`This emulator does not answer requests for that host. ${advice}\n`, 421);
  });
  app.route('/api', createApi({ ...parts, ...service, signal: life.signal }));
  app.route('/control', createControl(apiKey, actions));
  app.route('/link', createHostedPage(ledger, merchant));
  const webhookUrl = target?.url.href;
  app.route('/dashboard', createDashboard({ ledger, outbox, baseUrl, webhookUrl }));
  app.get('/', (c) => c.redirect('/dashboard', 303));
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
