import type { Link } from '../../contract/payment.js';
import type { EmulatorDelivery } from '../../deliveries/delivery.js';
import { clip, Visible } from '../visible.js';
import { DashboardFrame, Instant, priceOf, stateOf } from './frame.js';

export interface OverviewProps {
  readonly baseUrl: string;
  readonly webhookUrl: string | undefined;
  /** The links of all payments, newest first. */
  readonly links: readonly Link[];
  /** The newest notification of each reference. */
  readonly newest: ReadonlyMap<string, EmulatorDelivery>;
}

const ROWS = 100;

/** The first page of the dashboard: the service's addresses and the newest payments. */
export function OverviewPage({ baseUrl, webhookUrl, links, newest }: OverviewProps) {
  const rows = links.slice(0, ROWS).map((link) => ({ link, delivery: newest.get(link.reference) }));
  return (
    <DashboardFrame title="Payment Link Service emulator">
      <h1>Payment Link Service emulator</h1>
      <p class="soft">
        API at <code>{baseUrl}</code>. Notifications go to{' '}
        <code>{webhookUrl ?? 'no address: start the emulator with one'}</code>
      </p>
      <h2>Payments</h2>
      {rows.length === 0 && <p>No payments yet. Your server creates them through the API.</p>}
      <ul class="rows">
        {rows.map(({ link, delivery }) => (
          <li
            data-reference={link.reference}
            data-status={link.status}
            data-delivery={delivery?.state}
          >
            <a href={`/dashboard/payments/${link.token}`}>
              <Visible text={clip(link.description ?? link.reference)} />
            </a>{' '}
            {priceOf(link)}
            <p class="soft">
              {link.status}
              {delivery !== undefined && ` · ${stateOf(delivery)}`} ·{' '}
              <Instant at={link.createdAt} />
              {link.description !== undefined && ' · '}
              {link.description !== undefined && <Visible text={clip(link.reference)} />}
            </p>
          </li>
        ))}
      </ul>
      {rows.length < links.length && (
        <p class="soft">
          The newest {rows.length} of {links.length}.
        </p>
      )}
    </DashboardFrame>
  );
}
