import { DashboardFrame } from './frame.js';
import { amountOf, DeliveryRows, Instant, StatusBadge } from './parts.js';
import { DASHBOARD_TEXTS } from './texts.js';
import type { EmulatorDelivery } from '../../deliveries/delivery.js';
import { LinkForm, type LinkFormProps } from './link-form.js';
import type { Language } from '../language.js';
import type { Link, PaymentStatus } from '../../payments/payment.js';
import { clip, Visible } from '../visible.js';

export const STATUSES: readonly PaymentStatus[] = ['pending', 'success', 'failed', 'cancelled'];

/** The filter of the payment list. */
export interface PaymentFilter {
  readonly text: string;
  readonly status: PaymentStatus | undefined;
  /** Counts from 1. */
  readonly page: number;
}

export interface OverviewProps {
  readonly language: Language;
  readonly baseUrl: string;
  readonly payUrl: string;
  readonly webhookUrl: string | undefined;
  readonly counts: Readonly<Record<PaymentStatus, number>>;
  readonly owed: number;
  readonly filter: PaymentFilter;
  readonly links: readonly Link[];
  readonly pages: number;
  readonly deliveries: readonly EmulatorDelivery[];
  readonly form: Omit<LinkFormProps, 'language'>;
}

/** The first page of the dashboard: the service's addresses, the payments, and a link form. */
export function OverviewPage(props: OverviewProps) {
  const { language, links, deliveries, form } = props;
  const texts = DASHBOARD_TEXTS[language];
  return (
    <DashboardFrame language={language} title={texts.name}>
      <div class="stack">
        <div>
          <h1>{texts.name}</h1>
          <p class="lead">{texts.secretsHint}</p>
          <p class="lead">
            <a id="to-timeline" href="/dashboard/timeline">
              {texts.timeline}
            </a>
          </p>
        </div>
        <Tiles {...props} />
        <Addresses {...props} />
        <details
          class="card"
          id="create"
          open={form.wrongField !== undefined || (links.length === 0 && !isFiltered(props.filter))}
        >
          <summary id="create-summary">
            <h2>{texts.create}</h2>
          </summary>
          <LinkForm language={language} {...form} />
        </details>
        <div class="columns stack">
          <section class="card" aria-labelledby="payments-heading">
            <h2 id="payments-heading">{texts.payments}</h2>
            <Search {...props} />
            <div id="payments" data-live>
              <PaymentRows links={links} language={language} />
              <Paging {...props} />
            </div>
          </section>
          <section class="card" aria-labelledby="deliveries-heading">
            <h2 id="deliveries-heading">{texts.deliveries}</h2>
            <div id="deliveries" data-live>
              <DeliveryRows deliveries={deliveries} language={language} by="reference" />
            </div>
          </section>
        </div>
      </div>
    </DashboardFrame>
  );
}

function isFiltered({ text, status, page }: PaymentFilter): boolean {
  return text !== '' || status !== undefined || page > 1;
}

function Tiles({ language, counts, owed }: OverviewProps) {
  const texts = DASHBOARD_TEXTS[language];
  const format = new Intl.NumberFormat(language);
  const tiles = [
    ...STATUSES.map((status) => [texts.status[status], counts[status]] as const),
    [texts.owed, owed] as const,
  ];
  return (
    <section aria-label={texts.overview}>
      <ul class="tiles" id="tiles" data-live>
        {tiles.map(([name, count]) => (
          <li>
            <b>{format.format(count)}</b> <span>{name}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Addresses({ language, baseUrl, payUrl, webhookUrl }: OverviewProps) {
  const texts = DASHBOARD_TEXTS[language];
  return (
    <dl class="card facts">
      <div>
        <dt>{texts.api}</dt>
        <dd>
          <code>{baseUrl}</code>
        </dd>
      </div>
      <div>
        <dt>{texts.payPages}</dt>
        <dd>
          <code>{payUrl}/link/…</code>
        </dd>
      </div>
      <div>
        <dt>{texts.webhook}</dt>
        <dd>{webhookUrl === undefined ? texts.noWebhook : <code>{webhookUrl}</code>}</dd>
      </div>
    </dl>
  );
}

function Search({ language, filter }: OverviewProps) {
  const texts = DASHBOARD_TEXTS[language];
  return (
    <form
      method="get"
      action="/dashboard"
      role="search"
      aria-label={texts.filterName}
      class="search"
    >
      <div>
        <label for="q">{texts.contains}</label>
        <input id="q" name="q" value={filter.text} autocomplete="off" spellcheck={false} />
      </div>
      <div>
        <label for="status">{texts.statusLabel}</label>
        <select id="status" name="status">
          <option value="">{texts.anyStatus}</option>
          {STATUSES.map((status) => (
            <option value={status} selected={status === filter.status}>
              {texts.status[status]}
            </option>
          ))}
        </select>
      </div>
      <button type="submit">{texts.filter}</button>
    </form>
  );
}

function PaymentRows({
  links,
  language,
}: {
  readonly links: readonly Link[];
  readonly language: Language;
}) {
  if (links.length === 0) return <p class="empty">{DASHBOARD_TEXTS[language].noPayments}</p>;
  return (
    <ul class="rows">
      {links.map((link) => (
        <li data-reference={link.reference} data-status={link.status}>
          <a id={`payment-${link.token}`} href={`/dashboard/payments/${link.token}`}>
            <Visible text={clip(link.reference)} />
          </a>
          <span class="money">{amountOf(link, language)}</span>
          <div class="more">
            <StatusBadge status={link.status} language={language} />
            <Instant at={link.createdAt} language={language} />
            {link.description !== undefined && <Visible text={clip(link.description, 80)} />}
          </div>
        </li>
      ))}
    </ul>
  );
}

function Paging({ language, filter, pages }: OverviewProps) {
  const texts = DASHBOARD_TEXTS[language];
  if (pages <= 1) return <></>;
  return (
    <nav class="pages" aria-label={texts.payments}>
      {filter.page > 1 && (
        <a id="newer" href={addressOf(filter, filter.page - 1)} rel="prev">
          {texts.newer}
        </a>
      )}
      <span class="soft">{texts.pageOf(filter.page, pages)}</span>
      {filter.page < pages && (
        <a id="older" href={addressOf(filter, filter.page + 1)} rel="next">
          {texts.older}
        </a>
      )}
    </nav>
  );
}

function addressOf({ text, status }: PaymentFilter, page: number): string {
  return `/dashboard?${new URLSearchParams({ q: text, status: status ?? '', page: String(page) }).toString()}`;
}
