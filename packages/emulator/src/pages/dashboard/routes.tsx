import { setTimeout as sleep } from 'node:timers/promises';
import type { Context, Hono } from 'hono';
import type { JSX } from 'hono/jsx/jsx-runtime';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { report } from '../../base/report.js';
import type { Link } from '../../contract/payment.js';
import type { EmulatorDelivery } from '../../deliveries/delivery.js';
import type { Outbox } from '../../deliveries/outbox.js';
import type { Ledger } from '../../payments/ledger.js';
import { createPages, type Message } from '../create-pages.js';
import { answerPage, readForm, seeOther } from '../response.js';
import { DASHBOARD_STYLE } from '../style.js';
import { DashboardMessage } from './frame.js';
import { OverviewPage } from './overview-page.js';
import { PaymentPage } from './payment-page.js';

export interface DashboardOptions {
  readonly ledger: Ledger;
  readonly outbox: Outbox;
  readonly baseUrl: string;
  readonly webhookUrl: string | undefined;
}

const DELIVERIES = 25;
/** Milliseconds that a form's answer waits for the form's action. */
const SHORTLY = 1_000;

/**
 * Creates the dashboard: every payment with its notifications, and a button to send each again.
 * Without JavaScript: reload a page to see what is new.
 */
export function createDashboard(options: DashboardOptions): Hono {
  const { ledger, outbox, ...addresses } = options;
  return createPages(ledger, message, (add, app) => {
    app.get('/', (c) => {
      const newest = new Map(outbox.list().map((delivery) => [delivery.reference, delivery]));
      return answer(c, <OverviewPage {...addresses} links={ledger.list()} newest={newest} />);
    });

    add('GET', '/payments/:token', (c, link) => {
      const deliveries = deliveriesOf(outbox, link).slice(0, DELIVERIES);
      return answer(c, <PaymentPage link={link} deliveries={deliveries} />);
    });

    add('POST', '/payments/:token/resend', async (c, link) => {
      const id = (await readForm(c)).get('delivery') ?? '';
      const delivery = deliveriesOf(outbox, link).find((one) => one.id === id);
      if (delivery === undefined) return message(c, 'notFound', 404);
      // Waits briefly, so that the next page shows the result without JavaScript.
      const time = sleep(SHORTLY, undefined, { ref: false });
      await Promise.race([outbox.resend(id).catch(report), time]);
      return seeOther(c, `/dashboard/payments/${link.token}#delivery-${id}`);
    });
  });
}

/** Returns the notifications of a payment, newest first. */
function deliveriesOf(outbox: Outbox, { reference }: Link): EmulatorDelivery[] {
  return outbox
    .list()
    .filter((delivery) => delivery.reference === reference)
    .reverse();
}

const message: Message = (c, about, status) =>
  answer(c, <DashboardMessage about={about} />, status);

function answer(c: Context, page: JSX.Element, status: ContentfulStatusCode = 200) {
  return answerPage(c, { page, status, style: DASHBOARD_STYLE, language: 'en' });
}
