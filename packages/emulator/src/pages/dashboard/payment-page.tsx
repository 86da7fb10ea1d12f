import { toVisible } from '../../base/visible-text.js';
import type { Link } from '../../contract/payment.js';
import type { EmulatorDelivery } from '../../deliveries/delivery.js';
import { clip, Visible } from '../visible.js';
import { Delivery } from './deliveries.js';
import { BackLink, DashboardFrame } from './frame.js';
import { Ago, Price, Facts, StatusBadge } from './parts.js';
import { useTexts } from './texts.js';

export interface PaymentPageProps {
  readonly link: Link;
  /** The payment's notifications, newest first. */
  readonly deliveries: readonly EmulatorDelivery[];
}

/** Shows one order: its payment and its notifications. */
export function PaymentPage({ link, deliveries }: PaymentPageProps) {
  const texts = useTexts();
  const title = link.description ?? link.reference;
  return (
    <DashboardFrame title={toVisible(clip(title))}>
      <BackLink />
      <div class="stack">
        <div>
          <h1>
            <Visible text={title} />
          </h1>
          <p class="title" id="status" data-live>
            <span class="amount">
              <Price link={link} />
            </span>{' '}
            <StatusBadge status={link.status} />
          </p>
        </div>
        <a id="open-page" class="button" href={`/link/${link.token}`}>
          {texts.openPage}
        </a>
        <section class="card" aria-labelledby="deliveries-heading">
          <h2 id="deliveries-heading">{texts.deliveries}</h2>
          <div id="deliveries" data-live>
            {deliveries.length === 0 && <p class="empty">{texts.noDeliveries}</p>}
            {deliveries.map((delivery) => (
              <Delivery delivery={delivery} token={link.token} />
            ))}
          </div>
        </section>
        <div id="facts" data-live>
          <Facts
            facts={[
              [texts.reference, <Visible text={link.reference} />],
              [texts.createdAt, <Ago at={link.createdAt} />],
              [texts.singleUse, link.single_use === true ? texts.yes : texts.no],
              [texts.returnUrl, link.return_url],
              [texts.cancelUrl, link.cancel_url],
            ]}
          />
        </div>
      </div>
    </DashboardFrame>
  );
}
