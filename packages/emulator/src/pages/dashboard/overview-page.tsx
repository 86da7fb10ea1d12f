import type { Link } from '../../contract/payment.js';
import type { EmulatorDelivery } from '../../deliveries/delivery.js';
import { useLanguage } from '../language.js';
import { clip, Visible } from '../visible.js';
import { DashboardFrame } from './frame.js';
import { Ago, Price, Facts, StateBadge, StatusBadge } from './parts.js';
import { useTexts } from './texts.js';

/** A payment with its newest notification. */
export interface PaymentRow {
  readonly link: Link;
  readonly delivery: EmulatorDelivery | undefined;
}

export interface OverviewProps {
  readonly baseUrl: string;
  readonly payUrl: string;
  readonly webhookUrl: string | undefined;
  /** The newest payments. */
  readonly rows: readonly PaymentRow[];
  /** The number of all payments. */
  readonly count: number;
}

/** The first page of the dashboard: the service's addresses and the payments. */
export function OverviewPage(props: OverviewProps) {
  const { baseUrl, payUrl, webhookUrl, rows, count } = props;
  const texts = useTexts();
  const format = new Intl.NumberFormat(useLanguage());
  return (
    <DashboardFrame title={texts.name}>
      <div class="stack">
        <div>
          <h1>{texts.name}</h1>
          <p class="lead">{texts.secretsHint}</p>
        </div>
        <Facts
          facts={[
            [texts.api, <code>{baseUrl}</code>],
            [texts.payPages, <code>{payUrl}/link/…</code>],
            [texts.webhook, webhookUrl === undefined ? texts.noWebhook : <code>{webhookUrl}</code>],
          ]}
        />
        <section class="card" aria-labelledby="payments-heading">
          <h2 id="payments-heading">{texts.payments}</h2>
          <div id="payments" data-live>
            <Rows rows={rows} />
            {rows.length < count && (
              <p class="soft">
                {texts.newestOnly(format.format(rows.length), format.format(count))}
              </p>
            )}
          </div>
        </section>
      </div>
    </DashboardFrame>
  );
}

function Rows({ rows }: Pick<OverviewProps, 'rows'>) {
  if (rows.length === 0) return <p class="empty">{useTexts().noPayments}</p>;
  return (
    <ul class="rows">
      {rows.map(({ link, delivery }) => (
        <li
          data-reference={link.reference}
          data-status={link.status}
          data-delivery={delivery?.state}
        >
          <a id={`payment-${link.token}`} href={`/dashboard/payments/${link.token}`}>
            <Visible text={clip(link.description ?? link.reference)} />
          </a>
          <span class="money">
            <Price link={link} />
          </span>
          <div class="more">
            <StatusBadge status={link.status} />
            {delivery !== undefined && <StateBadge delivery={delivery} />}
            <Ago at={link.createdAt} />
            {link.description !== undefined && <Visible text={clip(link.reference)} />}
          </div>
        </li>
      ))}
    </ul>
  );
}
