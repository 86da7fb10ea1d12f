/** Small parts that several dashboard pages share. */
import type { Child } from 'hono/jsx';
import { CURRENCY, type Link, type PaymentStatus } from '../../contract/payment.js';
import type { EmulatorDelivery } from '../../deliveries/delivery.js';
import { formatAmount, formatFromNow, type Language } from '../language.js';
import { resultOf } from './attempt-groups.js';
import { DASHBOARD_TEXTS } from './texts.js';

interface Spoken {
  readonly language: Language;
}

const STATUS_TONES: Readonly<Record<PaymentStatus, string>> = {
  pending: '',
  success: 'good',
  failed: 'bad',
  cancelled: 'note',
};
const STATE_TONES: Readonly<Record<EmulatorDelivery['state'], string>> = {
  pending: '',
  delivered: 'good',
  unsent: 'note',
};

export function StatusBadge({ status, language }: Spoken & { readonly status: PaymentStatus }) {
  return (
    <span class={`badge ${STATUS_TONES[status]}`}>{DASHBOARD_TEXTS[language].status[status]}</span>
  );
}

/** Shows the state of a delivery, and the last result if the receiver has not acknowledged. */
export function StateBadge({
  delivery: { state, attempts },
  language,
}: Spoken & { readonly delivery: EmulatorDelivery }) {
  const texts = DASHBOARD_TEXTS[language];
  const last = attempts.at(-1);
  if (state !== 'pending' || last === undefined)
    return <span class={`badge ${STATE_TONES[state]}`}>{texts.state[state]}</span>;
  return (
    <span class="badge bad">
      {texts.notAcknowledged} <code>{resultOf(last)}</code>
    </span>
  );
}

/** A time from now. Its tooltip has the instant in this machine's time zone. */
export function Ago({ at, language }: Spoken & { readonly at: Date }) {
  const format = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' });
  return (
    <time datetime={at.toISOString()} title={format.format(at)}>
      {formatFromNow(at, language)}
    </time>
  );
}

/** Returns a link's amount, or the bounds of the customer's choice. */
export function amountOf({ price, amount }: Link, language: Language): string {
  const format = (value: number): string => formatAmount(value, CURRENCY, language);
  if (amount !== undefined) return format(amount);
  if ('amount' in price) return format(price.amount);
  return DASHBOARD_TEXTS[language].between(format(price.amountMin), format(price.amountMax));
}

/** Lists names with their values, without the undefined ones. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, Child?])[] }) {
  return (
    <dl class="card facts">
      {facts.map(
        ([name, value]) =>
          value !== undefined && (
            <div>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
