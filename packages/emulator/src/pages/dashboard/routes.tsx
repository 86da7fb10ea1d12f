import { setTimeout as sleep } from 'node:timers/promises';
import { Hono, type Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { JSX } from 'hono/jsx/jsx-runtime';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { report } from '../../base/report.js';
import type { Link } from '../../contract/payment.js';
import type { EmulatorDelivery } from '../../deliveries/delivery.js';
import type { Outbox } from '../../deliveries/outbox.js';
import type { Ledger } from '../../payments/ledger.js';
import { isFromOwnPage } from '../../server/request-guard.js';
import { answerPage, languageOf, readForm, seeOther } from '../response.js';
import { DASHBOARD_POLICY, DashboardMessage } from './frame.js';
import { OverviewPage } from './overview-page.js';
import { PaymentPage } from './payment-page.js';

export interface DashboardOptions {
  readonly ledger: Ledger;
  readonly outbox: Outbox | undefined;
  readonly baseUrl: string;
  readonly payUrl: string;
  readonly webhookUrl: string | undefined;
}

const FORM_BYTES = 4_096;
const ROWS = 50;
const DELIVERIES = 25;
/** Milliseconds that a form's answer waits for the form's action. */
const SHORTLY = 1_000;

/**
 * Creates the dashboard: every payment with its notifications, and a button to send each again.
 * Works without JavaScript.
 */
export function createDashboard(options: DashboardOptions): Hono {
  const { ledger, outbox } = options;
  const app = new Hono();

  /** Handles requests about a known link. */
  const withLink =
    (work: (c: Context, link: Link) => Response | Promise<Response>) =>
    (c: Context): Response | Promise<Response> => {
      const link = ledger.find(c.req.param('token') ?? '');
      return link === undefined ? message(c, 'notFound', 404) : work(c, link);
    };

  app.use(async (c, next) => {
    if (c.req.method === 'POST' && !isFromOwnPage(c.req.raw)) return message(c, 'refusedForm', 403);
    return next();
  });
  app.use(bodyLimit({ maxSize: FORM_BYTES, onError: (c) => message(c, 'refusedForm', 413) }));

  app.get('/', (c) => overview(c, options));

  app.get(
    '/payments/:token',
    withLink((c, link) => payment(c, options, link)),
  );

  app.post(
    '/payments/:token/resend',
    withLink(async (c, link) => {
      const id = (await readForm(c)).get('delivery') ?? '';
      const delivery = deliveriesOf(outbox, link).find((one) => one.id === id);
      if (outbox === undefined || delivery === undefined) return message(c, 'notFound', 404);
      await shortly(outbox.resend(id).catch(report));
      return seeOther(c, `${pathOf(link)}#delivery-${id}`);
    }),
  );

  app.all('*', (c) => message(c, 'notFound', 404));
  app.onError((error, c) => {
    report(error);
    return message(c, 'refusedForm', 500);
  });
  return app;
}

/** Waits briefly for an action, so that the next page shows its result without JavaScript. */
async function shortly(work: Promise<unknown>): Promise<void> {
  const waiting = new AbortController();
  const time = sleep(SHORTLY, undefined, { signal: waiting.signal }).catch(() => undefined);
  await Promise.race([work, time]);
  waiting.abort();
}

function overview(c: Context, options: DashboardOptions): Promise<Response> {
  const { ledger, outbox, ...addresses } = options;
  const search = c.req.query('q') ?? '';
  const found = ledger
    .list()
    .filter(({ reference, description = '' }) => `${reference}\n${description}`.includes(search));
  const newest = new Map(outbox?.list().map((delivery) => [delivery.reference, delivery]));
  const rows = found.slice(0, ROWS).map((link) => ({ link, delivery: newest.get(link.reference) }));
  const props = { ...addresses, language: languageOf(c), search, rows, found: found.length };
  return answer(c, <OverviewPage {...props} />);
}

function payment(c: Context, { outbox }: DashboardOptions, link: Link): Promise<Response> {
  const deliveries = deliveriesOf(outbox, link).slice(0, DELIVERIES);
  return answer(c, <PaymentPage {...{ language: languageOf(c), link, deliveries }} />);
}

/** Returns the notifications of a payment, newest first. */
function deliveriesOf(outbox: Outbox | undefined, { reference }: Link): EmulatorDelivery[] {
  const all = outbox?.list() ?? [];
  return all.filter((delivery) => delivery.reference === reference).reverse();
}

function pathOf({ token }: Link): string {
  return `/dashboard/payments/${token}`;
}

function message(
  c: Context,
  about: 'notFound' | 'refusedForm',
  status: ContentfulStatusCode,
): Promise<Response> {
  return answer(c, <DashboardMessage language={languageOf(c)} about={about} />, status);
}

function answer(
  c: Context,
  page: JSX.Element,
  status: ContentfulStatusCode = 200,
): Promise<Response> {
  return answerPage(c, { page, status, policy: DASHBOARD_POLICY });
}
