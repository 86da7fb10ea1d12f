import { setTimeout as sleep } from 'node:timers/promises';
import { Hono, type Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { JSX } from 'hono/jsx/jsx-runtime';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { DASHBOARD_POLICY, DashboardMessage } from './frame.js';
import { DeliveryPage } from './delivery-page.js';
import { EmulatorError } from '../../emulator-error.js';
import type { FaultSender } from '../../faults/fault-sender.js';
import { isFault } from '../../faults/faults.js';
import { readAmount } from '../../payments/entered-amount.js';
import type { Ledger } from '../../payments/ledger.js';
import type { LinkFormProps } from './link-form.js';
import { createFromForm, newReference } from './link-from-form.js';
import type { RequestLog } from '../../api/request-log.js';
import type { LiveStreams } from './live-stream.js';
import type { Settings } from '../../options.js';
import type { EmulatorDelivery } from '../../deliveries/delivery.js';
import type { Outbox } from '../../deliveries/outbox.js';
import { OverviewPage, STATUSES, type PaymentFilter } from './overview-page.js';
import { chooseLanguage, type Language } from '../language.js';
import { answerPage, seeOther } from '../response.js';
import { PaymentPage } from './payment-page.js';
import type { Link, PaymentStatus } from '../../payments/payment.js';
import { report } from '../../report.js';
import { isFromOwnPage } from '../../server/request-guard.js';
import { readTarget, type Target } from '../../server/target.js';
import { TimelinePage } from './timeline-page.js';
import { KINDS, timelineOf, type TimelineSources } from './timeline.js';

export interface DashboardOptions {
  readonly ledger: Ledger;
  readonly outbox: Outbox | undefined;
  readonly faults: FaultSender | undefined;
  readonly streams: LiveStreams;
  readonly requests: RequestLog;
  readonly settings: Settings;
  readonly baseUrl: string;
}

// Fits a link's texts at their default limits, percent-encoded.
const FORM_BYTES = 65_536;
const ROWS = 25;
const HAPPENINGS = 100;
/** Milliseconds that a form's answer waits for the form's action. */
const SHORTLY = 1_000;

/**
 * Creates the dashboard: every payment and notification, with forms for all actions. Works without
 * JavaScript.
 */
export function createDashboard(options: DashboardOptions): Hono {
  const { ledger, outbox, faults, streams, settings } = options;
  const app = new Hono();
  /** Tokens of payments with a running fault series. A second click has no effect. */
  const running = new Set<string>();

  app.use(async (c, next) => {
    // A stream occupies a connection, so other sites must not open one either.
    const isGuarded = c.req.method === 'POST' || c.req.path.endsWith('/events');
    if (isGuarded && !isFromOwnPage(c.req.raw)) return message(c, 'refused', 403);
    return next();
  });
  app.use(bodyLimit({ maxSize: FORM_BYTES, onError: (c) => message(c, 'refused', 413) }));

  app.get('/', (c) => overview(c, options, { values: { reference: newReference() } }));

  app.post('/', async (c) => {
    const outcome = createFromForm(await readForm(c), { ledger, assumed: settings.assumed });
    if ('token' in outcome) return seeOther(c, `/dashboard/payments/${outcome.token}`);
    return overview(c, options, outcome, 422);
  });

  app.get('/events', (c) => {
    // Node would not send the stream for HEAD, so the stream would never end.
    if (c.req.method !== 'GET') return c.body(null, 200, { 'Content-Type': 'text/event-stream' });
    const stream = streams.open();
    if (stream === undefined) return c.text('Too many live pages are open.\n', 503);
    return c.body(stream, 200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-store',
      'X-Accel-Buffering': 'no',
      // Without this header, the server waits for a timer before the first byte, forever under a
      // test's fake timers.
      'Transfer-Encoding': 'chunked',
    });
  });

  app.get('/timeline', (c) => {
    const kind = KINDS.find((candidate) => candidate === c.req.query('kind'));
    const filter = { kind, text: c.req.query('q') ?? '' };
    const happenings = timelineOf(sourcesOf(options), filter, HAPPENINGS);
    const { acknowledged } = settings.assumed;
    return answer(
      c,
      <TimelinePage {...{ language: languageOf(c), filter, happenings, acknowledged }} />,
    );
  });

  app.get('/payments/:token', (c) => withLink(c, ledger, (link) => payment(c, options, link)));

  app.post('/payments/:token/pay', (c) =>
    withLink(c, ledger, async (link) => {
      const form = await readForm(c);
      const entered = form.get('amount') ?? '';
      const amount = readAmount(link.price, entered);
      if (amount === undefined) return payment(c, options, link, entered);
      const isSilent = form.get('notification') === 'drop';
      const end = isSilent
        ? outbox?.disturb({ kind: 'drop', count: 1, reference: link.reference })
        : undefined;
      ledger.pay(link.token, amount, form.get('page') ?? undefined);
      end?.();
      return seeOther(c, pathOf(link));
    }),
  );

  for (const [verb, status] of [['fail', 'failed'] as const, ['cancel', 'cancelled'] as const]) {
    app.post(`/payments/:token/${verb}`, (c) =>
      withLink(c, ledger, (link) => {
        ledger.settle(link.token, status);
        return seeOther(c, pathOf(link));
      }),
    );
  }

  app.post('/payments/:token/faults', (c) =>
    withLink(c, ledger, async (link) => {
      const fault = (await readForm(c)).get('fault');
      if (faults !== undefined && fault === 'all') {
        if (!running.has(link.token)) {
          running.add(link.token);
          const all = faults.sendAll(link).finally(() => running.delete(link.token));
          await shortly(all.catch(reportUnlessClosed));
        }
        return seeOther(c, `${pathOf(link)}#faults`);
      }
      if (faults === undefined || !isFault(fault)) return message(c, 'refused', 400);
      const { id, outcome } = faults.send(link, fault);
      await shortly(outcome.catch(report));
      return seeOther(c, `/dashboard/deliveries/${id}`);
    }),
  );

  function deliveryPage(c: Context, wrongTarget?: string): Response | Promise<Response> {
    const delivery = outbox?.find(c.req.param('id') ?? '');
    if (delivery === undefined) return message(c, 'notFound', 404);
    const link = ledger.findByReference(delivery.reference);
    const paymentPath = link === undefined ? undefined : pathOf(link);
    const language = languageOf(c);
    const { acknowledged } = settings.assumed;
    return answer(
      c,
      <DeliveryPage {...{ language, delivery, paymentPath, acknowledged, wrongTarget }} />,
      wrongTarget === undefined ? 200 : 422,
    );
  }

  app.get('/deliveries/:id', (c) => deliveryPage(c));

  app.post('/deliveries/:id/resend', async (c) => {
    const delivery = outbox?.find(c.req.param('id'));
    if (outbox === undefined || delivery === undefined) return message(c, 'notFound', 404);
    const url = (await readForm(c)).get('url') ?? delivery.url;
    let target: Target | undefined;
    try {
      if (url !== delivery.url) target = readTarget('url', url, settings.allowHosts);
    } catch {
      return deliveryPage(c, url);
    }
    await shortly(outbox.resend(delivery.id, target).catch(report));
    return seeOther(c, `/dashboard/deliveries/${delivery.id}`);
  });

  app.all('*', (c) => message(c, 'notFound', 404));
  app.onError((error, c) => {
    report(error);
    return message(c, 'refused', 500);
  });
  return app;
}

function reportUnlessClosed(error: unknown): void {
  if (!(error instanceof EmulatorError)) report(error);
}

/**
 * Waits briefly for a started action, so that the next page shows its result without JavaScript.
 */
async function shortly(work: Promise<unknown>): Promise<void> {
  const waiting = new AbortController();
  await Promise.race([
    work,
    sleep(SHORTLY, undefined, { signal: waiting.signal }).catch(() => undefined),
  ]);
  waiting.abort();
}

function overview(
  c: Context,
  { ledger, outbox, settings, baseUrl }: DashboardOptions,
  form: Omit<LinkFormProps, 'language'>,
  status: ContentfulStatusCode = 200,
): Promise<Response> {
  const links = ledger.list();
  const filter = readFilter(c);
  const fits = (reference: string): boolean => reference.includes(filter.text);
  const shown = links.filter(
    (link) =>
      fits(link.reference) && (filter.status === undefined || link.status === filter.status),
  );
  const pages = Math.max(1, Math.ceil(shown.length / ROWS));
  const page = Math.min(filter.page, pages);
  const props = {
    language: languageOf(c),
    baseUrl,
    payUrl: settings.payUrl ?? baseUrl.replace(/\/api$/, ''),
    webhookUrl: settings.target?.url.href,
    counts: countByStatus(links),
    owed: outbox?.countPending() ?? 0,
    filter: { ...filter, page },
    links: shown.slice((page - 1) * ROWS, page * ROWS),
    pages,
    deliveries: outbox?.newest(ROWS, fits) ?? [],
    form,
  };
  return answer(c, <OverviewPage {...props} />, status);
}

function payment(
  c: Context,
  options: DashboardOptions,
  link: Link,
  wrongAmount?: string,
): Promise<Response> {
  const { ledger, outbox, settings } = options;
  const props = {
    language: languageOf(c),
    link,
    can: {
      pay: ledger.isPayable(link),
      fail: link.status !== 'failed' && ledger.allows(link, 'failed'),
      cancel: ledger.allows(link, 'cancelled'),
    },
    hasWebhook: outbox !== undefined,
    deliveries: outbox?.newest(ROWS, (reference) => reference === link.reference) ?? [],
    happenings: timelineOf(sourcesOf(options, link.reference), { kind: undefined, text: '' }, ROWS),
    acknowledged: settings.assumed.acknowledged,
    lastFaults: lastFaultsOf(outbox, link),
    wrongAmount,
  };
  return answer(c, <PaymentPage {...props} />, wrongAmount === undefined ? 200 : 422);
}

/** Returns the timeline's sources, filtered by reference if given. */
function sourcesOf(
  { ledger, outbox, requests }: DashboardOptions,
  reference?: string,
): TimelineSources {
  const fits = (other: { readonly reference?: string }): boolean =>
    reference === undefined || other.reference === reference;
  return {
    requests: requests.list().filter(fits),
    links: ledger.list().filter(fits),
    deliveries:
      outbox?.newest(Infinity, (other) => reference === undefined || other === reference) ?? [],
  };
}

function lastFaultsOf(
  outbox: Outbox | undefined,
  { reference }: Link,
): Map<EmulatorDelivery['fault'], EmulatorDelivery> {
  const newest = outbox?.newest(Infinity, (other) => other === reference) ?? [];
  return new Map(newest.reverse().map((delivery) => [delivery.fault, delivery]));
}

function countByStatus(links: readonly Link[]): Record<PaymentStatus, number> {
  const counts = { pending: 0, success: 0, failed: 0, cancelled: 0 };
  for (const { status } of links) counts[status]++;
  return counts;
}

function readFilter(c: Context): PaymentFilter {
  const status = STATUSES.find((candidate) => candidate === c.req.query('status'));
  const page = Number(c.req.query('page') ?? '1');
  return {
    text: c.req.query('q') ?? '',
    status,
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
  };
}

async function readForm(c: Context): Promise<URLSearchParams> {
  return new URLSearchParams(await c.req.text());
}

function withLink(
  c: Context,
  ledger: Ledger,
  work: (link: Link) => Response | Promise<Response>,
): Response | Promise<Response> {
  const link = ledger.find(c.req.param('token') ?? '');
  return link === undefined ? message(c, 'notFound', 404) : work(link);
}

function pathOf({ token }: Link): string {
  return `/dashboard/payments/${token}`;
}

function languageOf(c: Context): Language {
  return chooseLanguage(c.req.header('accept-language'));
}

function message(
  c: Context,
  about: 'notFound' | 'refused',
  status: ContentfulStatusCode,
): Promise<Response> {
  return answer(c, <DashboardMessage language={languageOf(c)} about={about} />, status);
}

function answer(
  c: Context,
  page: JSX.Element,
  status: ContentfulStatusCode = 200,
): Promise<Response> {
  return answerPage(c, { page, language: languageOf(c), status, policy: DASHBOARD_POLICY });
}
