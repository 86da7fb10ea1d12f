import { toVisible } from '../../base/visible-text.js';
import type { Link } from '../../contract/payment.js';
import type { EmulatorDelivery } from '../../deliveries/delivery.js';
import type { Language } from '../language.js';
import { clip, Visible } from '../visible.js';
import { Delivery } from './deliveries.js';
import { BackLink, DashboardFrame } from './frame.js';
import { Ago, amountOf, Facts, StatusBadge } from './parts.js';
import { DASHBOARD_TEXTS } from './texts.js';

export interface PaymentPageProps {
  readonly language: Language;
  readonly link: Link;
  /** The payment's notifications, newest first. */
  readonly deliveries: readonly EmulatorDelivery[];
}

/** Shows one order: its payment and its notifications. */
export function PaymentPage({ language, link, deliveries }: PaymentPageProps) {
  const texts = DASHBOARD_TEXTS[language];
  const title = link.description ?? link.reference;
  return (
    <DashboardFrame language={language} title={toVisible(clip(title))}>
      <BackLink language={language} />
      <div class="stack">
        <div>
          <h1>
            <Visible text={title} />
          </h1>
          <p class="title" id="status" data-live>
            <span class="amount">{amountOf(link, language)}</span>{' '}
            <StatusBadge status={link.status} language={language} />
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
              <Delivery {...{ language, delivery, token: link.token }} />
            ))}
          </div>
        </section>
        <div id="facts" data-live>
          <Facts
            facts={[
              [texts.reference, <Visible text={link.reference} />],
              [texts.createdAt, <Ago at={link.createdAt} language={language} />],
              [texts.singleUse, link.singleUse ? texts.yes : texts.no],
              [texts.returnUrl, link.returnUrl],
              [texts.cancelUrl, link.cancelUrl],
            ]}
          />
        </div>
      </div>
    </DashboardFrame>
  );
}
