/** Small parts that several dashboard pages share. */
import type { Child } from 'hono/jsx';
import {
  amountOf,
  boundsOf,
  CURRENCY,
  type Link,
  type PaymentStatus,
} from '../../contract/payment.js';
import type { EmulatorDelivery } from '../../deliveries/delivery.js';
import { formatAmount, formatFromNow, useLanguage } from '../language.js';
import { resultOf } from './attempt-groups.js';
import { useTexts } from './texts.js';

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

export function StatusBadge({ status }: { readonly status: PaymentStatus }) {
  return <span class={`badge ${STATUS_TONES[status]}`}>{useTexts().status[status]}</span>;
}

/** Shows the state of a delivery, and the last result if the receiver has not acknowledged. */
export function StateBadge({
  delivery: { state, attempts },
}: {
  readonly delivery: EmulatorDelivery;
}) {
  const texts = useTexts();
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
export function Ago({ at }: { readonly at: Date }) {
  const language = useLanguage();
  const format = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' });
  return (
    <time datetime={at.toISOString()} title={format.format(at)}>
      {formatFromNow(at, language)}
    </time>
  );
}

/** Shows a link's amount, or the bounds of the customer's choice. */
export function Price({ link }: { readonly link: Link }) {
  const [language, texts, amount] = [useLanguage(), useTexts(), amountOf(link)];
  const { min, max } = boundsOf(link);
  const format = (value: number): string => formatAmount(value, CURRENCY, language);
  return amount === undefined ? texts.between(format(min), format(max)) : format(amount);
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
