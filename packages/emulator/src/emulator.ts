import { Hono } from 'hono';
import { createApi } from './api.js';
import { createHostedPage } from './hosted-page.js';
import { Ledger } from './ledger.js';
import { readOptions, type EmulatorOptions, type Settings } from './options.js';
import { Outbox, type DeliveryAttempt, type EmulatorDelivery } from './outbox.js';
import type { Link, Payment } from './payment.js';
import { asksForLoopback } from './request-guard.js';
import { listen } from './server.js';

/** A running emulator of the Payment Link Service. */
export interface Emulator {
  /** Where the API is: endpoints are at `{baseUrl}/v1/…`. */
  readonly baseUrl: string;
  /** Where the hosted pages are: `{payUrl}/link/<token>`. */
  readonly payUrl: string;
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
  /** Sends a notification again, also one that was acknowledged. Resolves with that attempt, whatever the answer was. */
  redeliver(id: string): Promise<DeliveryAttempt>;
  /** Stops the server, and what is still to be sent. */
  close(): Promise<void>;
}

/**
 * Starts the Payment Link Service on this machine: its API, the page where customers pay, and signed notifications.
 *
 * @throws ConfigurationError that names the option; Error when the port is taken.
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const settings = await readOptions(options);
  const server = await listen(settings.host, settings.port);
  const outbox = createOutbox(settings);
  const ledger = new Ledger({
    assumed: settings.assumed,
    payUrl: server.origin,
    onSuccess: (link) => {
      outbox?.post(link.reference, settings.assumed.notificationBody({ ...ledger.paymentOf(link), token: link.token }));
    },
  });
  const app = createApp(settings, ledger);
  const fetch = async (request: Request): Promise<Response> => app.fetch(request);
  server.serve(fetch);
  let closed = false;

  function requireLink(reference: string): Link {
    if (closed) throw new Error('the emulator is closed');
    const link = ledger.findByReference(reference);
    if (link === undefined) throw new Error(`there is no payment with the reference ${JSON.stringify(reference)}`);
    return link;
  }

  return {
    baseUrl: `${server.origin}/api`,
    payUrl: server.origin,
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
    async redeliver(id) {
      if (outbox === undefined) throw new Error('no webhook.url is set, so there is no delivery');
      return outbox.resend(id);
    },
    async close() {
      if (closed) return;
      closed = true;
      outbox?.close();
      await server.close();
    },
  };

  function settle(link: Link, status: 'failed' | 'cancelled'): Payment {
    if (!ledger.settle(link.token, status)) throw new Error(`the payment cannot become ${status}: it is ${link.status}`);
    return ledger.paymentOf(link);
  }
}

function createOutbox({ webhookUrl: url, webhookSecret: secret, assumed }: Settings): Outbox | undefined {
  return url === undefined ? undefined : new Outbox({ url, secret, assumed });
}

function createApp({ apiKey, assumed }: Settings, ledger: Ledger): Hono {
  const app = new Hono();
  app.use(async (c, next) => {
    if (!asksForLoopback(c.req.raw)) return c.text('This emulator answers to a loopback host only.\n', 421);
    return next();
  });
  app.route('/api', createApi({ apiKey, ledger, assumed }));
  app.route('/link', createHostedPage(ledger));
  return app;
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
