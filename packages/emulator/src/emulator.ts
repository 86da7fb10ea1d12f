import { inspect } from 'node:util';
import { Hono } from 'hono';
import { createControl } from './api/control.js';
import { createApi } from './api/endpoints.js';
import { RateLimiter } from './api/rate-limit.js';
import { RequestLog, type ApiRequest } from './api/request-log.js';
import type { DeliveryAttempt } from './deliveries/attempt.js';
import type { EmulatorDelivery, FaultOutcome } from './deliveries/delivery.js';
import type { Disturbance } from './deliveries/disturbances.js';
import { Outbox } from './deliveries/outbox.js';
import { Waiting, type AwaitedDelivery } from './deliveries/waiting.js';
import { EmulatorError, isNotWritten } from './emulator-error.js';
import { FaultSender } from './faults/fault-sender.js';
import type { Fault } from './faults/faults.js';
import type { FaultOptions } from './faults/faulty-notifications.js';
import { readOptions, type EmulatorOptions, type Settings } from './options.js';
import { Changes } from './pages/dashboard/changes.js';
import { LiveStreams } from './pages/dashboard/live-stream.js';
import { createDashboard } from './pages/dashboard/routes.js';
import { createHostedPage } from './pages/hosted/routes.js';
import { createActions, type Actions } from './payments/actions.js';
import { Ledger } from './payments/ledger.js';
import type { CreatedLink, Payment, PaymentLinkFields } from './payments/payment.js';
import { report } from './report.js';
import { asksForAddressOr, asksForLoopback } from './server/request-guard.js';
import { listen, type Listening } from './server/server.js';
import { readTarget } from './server/target.js';
import { noStore, openStateFile, type Store } from './state/state-file.js';

/**
 * A running emulator of the Payment Link Service. Its methods throw errors with a `code`: see
 * {@link EmulatorError}.
 */
export interface Emulator {
  /** The address of the API. The endpoints are at `{baseUrl}/v1/…`. */
  readonly baseUrl: string;
  /** The address of the hosted pages: `{payUrl}/link/<token>`. */
  readonly payUrl: string;
  /** The address of the dashboard, which shows and tries everything in a browser. */
  readonly dashboardUrl: string;
  readonly apiKey: string;
  readonly webhookSecret: string;
  /**
   * Answers a request without a connection. The URL must name a loopback host, as `baseUrl` does.
   */
  fetch(request: Request): Promise<Response>;
  /**
   * Creates a payment link by the rules of the API, without an API request.
   *
   * @throws EmulatorError with an API code, such as `invalid_request` or `reference_taken`, or
   *   `emulator_closed`
   */
  createLink(link: PaymentLinkFields): Promise<CreatedLink>;
  /**
   * Pays as the customer would on the hosted page, and sends the notification.
   *
   * @param choice the amount for a free-amount link, default its lower bound
   * @throws EmulatorError `payment_not_found`, `transition_not_allowed`, `invalid_amount`,
   *   `emulator_closed`
   */
  pay(reference: string, choice?: { readonly amount?: number }): Promise<Payment>;
  /**
   * Makes the payment fail. @throws EmulatorError `payment_not_found`, `transition_not_allowed`,
   * `emulator_closed`
   */
  fail(reference: string): Promise<Payment>;
  /**
   * Cancels as the customer would. @throws EmulatorError `payment_not_found`,
   * `transition_not_allowed`, `emulator_closed`
   */
  cancel(reference: string): Promise<Payment>;
  /** Returns a copy of every notification with its attempts, oldest first. */
  deliveries(): EmulatorDelivery[];
  /**
   * Waits until your server has acknowledged a notification of this payment, or answered one with
   * `status`. Resolves with the newest such delivery, at once if it exists.
   *
   * @throws EmulatorError `wait_timeout` after `timeout` (default 5,000 ms, the message lists the
   *   answers), `no_webhook`, `emulator_reset`, `emulator_closed`, or ConfigurationError for an
   *   unknown option
   */
  waitForDelivery(awaited: AwaitedDelivery): Promise<EmulatorDelivery>;
  /**
   * Sends any notification again, even an acknowledged or dropped one, and returns the attempt with
   * its answer.
   *
   * @param options `url`: an address other than `webhook.url`, on this machine or on one of
   *   `allowHosts`. Its answer does not end the delivery.
   * @throws EmulatorError `delivery_not_found`, `delivery_has_fault`, `no_webhook`,
   *   `emulator_closed`, or ConfigurationError for the url
   */
  redeliver(id: string, options?: { readonly url?: string | undefined }): Promise<DeliveryAttempt>;
  /**
   * Sends a faulty notification of a payment, and compares the answers with a correct receiver's
   * answers. Neither retries nor changes the payment.
   *
   * @throws ConfigurationError for an unknown fault or option, EmulatorError `payment_not_found`,
   *   `no_webhook`, `emulator_closed`
   */
  sendFault(reference: string, fault: Fault, options?: FaultOptions): Promise<FaultOutcome>;
  /**
   * Sends every fault in turn. The expected answers depend on the payment's status.
   *
   * @throws EmulatorError `payment_not_found`, `no_webhook`, `emulator_closed`
   */
  sendAllFaults(reference: string): Promise<FaultOutcome[]>;
  /**
   * Drops, delays or reorders notifications from now on. A dropped notification stays in
   * `deliveries()`, and `redeliver` sends it late.
   *
   * @returns a function that ends the disturbance
   * @throws ConfigurationError for an unknown disturbance, EmulatorError `no_webhook`
   */
  disturb(disturbance: Disturbance): () => void;
  /**
   * Returns the newest `assumed.requestsKept` API requests, oldest first, with the refused
   * requests.
   */
  requests(): ApiRequest[];
  /**
   * Calls `listener` after each API request, and prints its errors. @returns an unsubscribe
   * function
   */
  onRequest(listener: (request: ApiRequest) => void): () => void;
  /**
   * Forgets every link, payment, notification, request and disturbance. Addresses and secrets stay,
   * and `seed` and `disturb` start again. Resolves when the last running request has ended.
   *
   * @throws EmulatorError `emulator_closed`
   */
  reset(): Promise<void>;
  /** Stops the server and drops all pending notifications. */
  close(): Promise<void>;
}

/**
 * Starts the Payment Link Service on this machine: its API, the payment page, signed notifications,
 * and a dashboard.
 *
 * @throws ConfigurationError that names the option, or Error `EADDRINUSE` if the port is taken
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const settings = await readOptions(options);
  const { assumed, random, target } = settings;
  const server = await listen(settings);
  const payUrl = settings.payUrl ?? server.origin;
  const store = await openStore(settings.state, server);
  const changes = new Changes();
  const streams = new LiveStreams(changes);
  const waiting = new Waiting(() => outbox?.list() ?? []);
  const onChange = (): void => {
    changes.tell();
    waiting.look();
  };
  const requests = new RequestLog(assumed.requestsKept, onChange);
  const limiter = new RateLimiter(assumed.rateLimit);
  const outbox =
    target && new Outbox({ ...settings, target, secret: settings.webhookSecret, store, onChange });
  const ledger = new Ledger({
    assumed,
    random,
    store,
    payUrl,
    onChange,
    onSuccess: (link) => {
      outbox?.post(
        link.reference,
        assumed.notificationBody({ ...ledger.paymentOf(link), token: link.token }),
      );
    },
  });
  const faults = outbox && new FaultSender({ ledger, outbox, settings });
  const actions = createActions(ledger, assumed);
  const app = new Hono();
  app.use(async (c, next) => {
    if (!isMeant(c.req.raw, settings))
      return c.text(
        'This emulator does not answer to that host. Set its name with --host <name> ' +
          '--allow-remote.\n',
        421,
      );
    return next();
  });
  // A repeated change must not succeed while the state file lacks the first one.
  for (const path of ['/control/*', '/link/*', '/dashboard/*'])
    app.use(path, async (_, next) => {
      store.catchUp();
      await next();
    });
  app.route(
    '/api',
    createApi({ apiKey: settings.apiKey, ledger, requests, limiter, store, assumed }),
  );
  app.route('/control', createControl({ apiKey: settings.apiKey, actions }));
  app.route('/link', createHostedPage(ledger));
  app.route(
    '/dashboard',
    createDashboard({
      ledger,
      outbox,
      faults,
      streams,
      requests,
      settings,
      baseUrl: `${server.origin}/api`,
    }),
  );
  app.get('/', (c) => c.redirect('/dashboard', 303));
  app.onError((error, c) => {
    report(error);
    if (isNotWritten(error)) return c.text(`${error.message}.\n`, 500);
    return c.text('The emulator failed: read its console.\n', 500);
  });
  const fetch = async (request: Request): Promise<Response> => app.fetch(request);
  server.serve(fetch);
  let closed = false;

  function open(): Actions {
    if (closed) throw new EmulatorError('emulator_closed', 'the emulator is closed');
    store.catchUp();
    return actions;
  }

  function requireWebhook<T>(part: T | undefined): T {
    if (part === undefined)
      throw new EmulatorError(
        'no_webhook',
        'webhook.url is not set, so the emulator sends no notifications',
      );
    return part;
  }

  return hideSecrets({
    baseUrl: `${server.origin}/api`,
    payUrl,
    dashboardUrl: `${payUrl}/dashboard`,
    apiKey: settings.apiKey,
    webhookSecret: settings.webhookSecret,
    fetch,
    createLink: async (link) => open().createLink(link),
    pay: async (reference, choice) => open().pay(reference, choice?.amount),
    fail: async (reference) => open().settle(reference, 'failed'),
    cancel: async (reference) => open().settle(reference, 'cancelled'),
    deliveries: () => outbox?.list() ?? [],
    async waitForDelivery(awaited) {
      open();
      requireWebhook(outbox);
      return waiting.wait(awaited, () => {
        const status = ledger.findByReference(awaited.reference)?.status;
        return status === undefined
          ? 'this reference has no payment'
          : `none was sent: the payment is ${status}`;
      });
    },
    async redeliver(id, { url } = {}) {
      const sender = requireWebhook(outbox);
      return sender.resend(
        id,
        url === undefined ? undefined : readTarget('url', url, settings.allowHosts),
      );
    },
    async sendFault(reference, fault, faultOptions) {
      const sender = requireWebhook(faults);
      return sender.send(open().find(reference), fault, faultOptions).outcome;
    },
    sendAllFaults: async (reference) => requireWebhook(faults).sendAll(open().find(reference)),
    disturb: (disturbance) => requireWebhook(outbox).disturb(disturbance),
    requests: () => requests.list(),
    onRequest: (listener) => requests.listen(listener),
    async reset() {
      open();
      waiting.endAll('emulator_reset', 'the emulator was reset');
      random.restart();
      requests.clear();
      limiter.reset();
      store.clear();
      ledger.reset();
      await outbox?.reset();
    },
    async close() {
      if (closed) return;
      closed = true;
      waiting.endAll('emulator_closed', 'the emulator was closed');
      outbox?.close();
      store.close();
      streams.close();
      changes.close();
      await server.close();
    },
  });
}

async function openStore(path: string | undefined, server: Listening): Promise<Store> {
  try {
    return path === undefined ? noStore : openStateFile(path);
  } catch (error) {
    await server.close();
    throw error;
  }
}

function isMeant(request: Request, { allowRemote, host, payUrl }: Settings): boolean {
  const names = [host, ...(payUrl === undefined ? [] : [new URL(payUrl).hostname])];
  return allowRemote ? asksForAddressOr(names, request) : asksForLoopback(request);
}

/** Hides the two secrets from a log of the whole object. Property access still works. */
function hideSecrets(emulator: Emulator): Emulator {
  const hidden = () => ({ ...emulator, apiKey: '(hidden)', webhookSecret: '(hidden)' });
  return Object.defineProperties(emulator, {
    [inspect.custom]: { value: hidden },
    toJSON: { value: hidden },
  });
}
