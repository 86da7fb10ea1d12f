import { inspect } from 'node:util';
import { Hono } from 'hono';
import { createApi } from './api/endpoints.js';
import type { DeliveryAttempt } from './deliveries/attempt.js';
import { Changes } from './pages/dashboard/changes.js';
import { createDashboard } from './pages/dashboard/routes.js';
import type { EmulatorDelivery, FaultOutcome } from './deliveries/delivery.js';
import type { Disturbance } from './deliveries/disturbances.js';
import { FaultSender } from './faults/fault-sender.js';
import type { Fault } from './faults/faults.js';
import type { FaultOptions } from './faults/faulty-notifications.js';
import { createHostedPage } from './pages/hosted/routes.js';
import { Ledger } from './payments/ledger.js';
import { LiveStreams } from './pages/dashboard/live-stream.js';
import { readOptions, type EmulatorOptions, type Settings } from './options.js';
import { Outbox } from './deliveries/outbox.js';
import type { Link, Payment } from './payments/payment.js';
import { asksForAddressOr, asksForLoopback } from './server/request-guard.js';
import { report } from './report.js';
import { listen } from './server/server.js';
import { quote } from './visible-text.js';

/** A running emulator of the Payment Link Service. */
export interface Emulator {
  /** Where the API is: endpoints are at `{baseUrl}/v1/…`. */
  readonly baseUrl: string;
  /** Where the hosted pages are: `{payUrl}/link/<token>`. */
  readonly payUrl: string;
  /** Where everything can be watched and tried out in a browser. */
  readonly dashboardUrl: string;
  readonly apiKey: string;
  readonly webhookSecret: string;
  /** Answers a request without a connection; its URL has to name a loopback host, as `baseUrl` does. */
  fetch(request: Request): Promise<Response>;
  /**
   * Pays as the customer would on the hosted page, and sends the notification.
   *
   * @param choice the amount for a link with a free amount; default its lower bound
   * @throws Error when there is no such payment, or it cannot be paid (any more).
   */
  pay(reference: string, choice?: { readonly amount?: number }): Promise<Payment>;
  /** Lets the payment fail. @throws Error when it cannot (any more). */
  fail(reference: string): Promise<Payment>;
  /** Cancels as the customer would. @throws Error when it cannot be cancelled (any more). */
  cancel(reference: string): Promise<Payment>;
  /** Every notification with its attempts, oldest first: a copy of how they stand now. */
  deliveries(): EmulatorDelivery[];
  /** Sends a notification again, also one that was acknowledged or dropped. Resolves with that attempt, whatever the answer was. */
  redeliver(id: string): Promise<DeliveryAttempt>;
  /**
   * Sends a notification of a payment with a fault, whether it is paid or not, and compares the answers with those of a receiver
   * that does it right. It is not retried, and changes nothing of the payment.
   *
   * @throws ConfigurationError for a fault or an option that there is not; Error when there is no such payment, or no webhook.url.
   */
  sendFault(reference: string, fault: Fault, options?: FaultOptions): Promise<FaultOutcome>;
  /**
   * From now on drops, delays or reorders notifications on their way. A dropped one stays among `deliveries()`, from where
   * `redeliver` sends it late.
   *
   * @returns a function that ends it
   * @throws ConfigurationError when the disturbance is none; Error when there is no webhook.url.
   */
  disturb(disturbance: Disturbance): () => void;
  /** Stops the server, and what is still to be sent. */
  close(): Promise<void>;
}

/**
 * Starts the Payment Link Service on this machine: its API, the page where customers pay, signed notifications, and a dashboard.
 *
 * @throws ConfigurationError that names the option; Error when the port is taken.
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const settings = await readOptions(options);
  const server = await listen(settings);
  const changes = new Changes();
  const streams = new LiveStreams(changes);
  const outbox = createOutbox(settings, changes);
  const ledger = new Ledger({
    assumed: settings.assumed,
    payUrl: server.origin,
    onChange: changes.tell,
    onSuccess: (link) => {
      outbox?.post(link.reference, settings.assumed.notificationBody({ ...ledger.paymentOf(link), token: link.token }));
    },
  });
  const faults = outbox === undefined ? undefined : new FaultSender({ ledger, outbox, settings });
  const app = new Hono();
  app.use(async (c, next) => {
    if (!isMeant(c.req.raw, settings)) return c.text('This emulator does not answer to that host.\n', 421);
    return next();
  });
  app.route('/api', createApi({ apiKey: settings.apiKey, ledger, assumed: settings.assumed }));
  app.route('/link', createHostedPage(ledger));
  app.route('/dashboard', createDashboard({ ledger, outbox, faults, streams, settings, baseUrl: `${server.origin}/api` }));
  app.get('/', (c) => c.redirect('/dashboard', 303));
  app.onError((error, c) => {
    report(error);
    return c.text('The emulator failed; its console says why.\n', 500);
  });
  const fetch = async (request: Request): Promise<Response> => app.fetch(request);
  server.serve(fetch);
  let closed = false;

  function requireLink(reference: string): Link {
    if (closed) throw new Error('the emulator is closed');
    const link = ledger.findByReference(reference);
    if (link === undefined) throw new Error(`there is no payment with the reference ${quote(reference)}`);
    return link;
  }

  function requireWebhook<T>(part: T | undefined): T {
    if (part === undefined) throw new Error('no webhook.url is set, so there is no delivery');
    return part;
  }

  function settle(link: Link, status: 'failed' | 'cancelled'): Payment {
    if (!ledger.settle(link.token, status)) throw new Error(`the payment cannot become ${status}: it is ${link.status}`);
    return ledger.paymentOf(link);
  }

  return hideSecrets({
    baseUrl: `${server.origin}/api`,
    payUrl: server.origin,
    dashboardUrl: `${server.origin}/dashboard`,
    apiKey: settings.apiKey,
    webhookSecret: settings.webhookSecret,
    fetch,
    async pay(reference, choice) {
      const link = requireLink(reference);
      const outcome = ledger.pay(link.token, amountFor(link, choice?.amount));
      if (outcome !== 'paid') throw new Error(`the payment cannot be paid: it is ${link.status}`);
      return ledger.paymentOf(link);
    },
    fail: async (reference) => settle(requireLink(reference), 'failed'),
    cancel: async (reference) => settle(requireLink(reference), 'cancelled'),
    deliveries: () => outbox?.list() ?? [],
    redeliver: async (id) => requireWebhook(outbox).resend(id),
    async sendFault(reference, fault, faultOptions) {
      const sender = requireWebhook(faults);
      return sender.send(requireLink(reference), fault, faultOptions).outcome;
    },
    disturb: (disturbance) => requireWebhook(outbox).disturb(disturbance),
    async close() {
      if (closed) return;
      closed = true;
      outbox?.close();
      streams.close();
      changes.close();
      await server.close();
    },
  });
}

function createOutbox({ target, webhookSecret: secret, assumed, disturb }: Settings, changes: Changes): Outbox | undefined {
  if (target === undefined) return undefined;
  const outbox = new Outbox({ target, secret, assumed, onChange: changes.tell });
  if (disturb !== undefined) outbox.disturb(disturb);
  return outbox;
}

function isMeant(request: Request, { allowRemote, host }: Settings): boolean {
  return allowRemote ? asksForAddressOr(host, request) : asksForLoopback(request);
}

/** Keeps the two secrets out of what is logged whole; they are there for who asks for them by name. */
function hideSecrets(emulator: Emulator): Emulator {
  const hidden = () => ({ ...emulator, apiKey: '(hidden)', webhookSecret: '(hidden)' });
  return Object.defineProperties(emulator, {
    [inspect.custom]: { value: hidden },
    toJSON: { value: hidden },
  });
}

function amountFor({ price }: Link, chosen: number | undefined): number {
  if ('amount' in price) {
    if (chosen !== undefined && chosen !== price.amount) throw new Error(`the amount of this link is ${price.amount}`);
    return price.amount;
  }
  const amount = chosen ?? price.amountMin;
  if (!Number.isInteger(amount) || amount < price.amountMin || amount > price.amountMax) {
    throw new Error(`the amount must be a whole number from ${price.amountMin} to ${price.amountMax}`);
  }
  return amount;
}
