import type { EmulatorDelivery } from '../../deliveries/delivery.js';
import { DASHBOARD_TEXTS } from './texts.js';
import { FAULT_TEXTS } from './fault-texts.js';
import { isFault } from '../../faults/faults.js';
import { formatAmount, type Language } from '../language.js';
import { CURRENCY, type Link, type PaymentStatus } from '../../payments/payment.js';
import { clip, Visible } from '../visible.js';

/** Small parts that several dashboard pages share. */

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
  dropped: 'bad',
  sent: 'note',
};

export function StatusBadge({ status, language }: Spoken & { readonly status: PaymentStatus }) {
  return (
    <span class={`badge ${STATUS_TONES[status]}`}>{DASHBOARD_TEXTS[language].status[status]}</span>
  );
}

/** Shows the state of a delivery. Distinguishes a pending delivery with refused attempts. */
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
      {last.response === undefined ? texts.unanswered : texts.notAcknowledged}
    </span>
  );
}

/** An instant in this machine's time zone, which the browser shares. */
export function Instant({
  at,
  language,
  precisely,
}: Spoken & { readonly at: Date; readonly precisely?: boolean }) {
  const style =
    precisely === true
      ? ({ dateStyle: 'medium', timeStyle: 'medium' } as const)
      : ({ timeStyle: 'medium' } as const);
  return (
    <time datetime={at.toISOString()}>{new Intl.DateTimeFormat(language, style).format(at)}</time>
  );
}

/** Returns a link's amount, or the bounds of the customer's choice. */
export function amountOf({ price, amount }: Link, language: Language): string {
  if (amount !== undefined) return formatAmount(amount, CURRENCY, language);
  if ('amount' in price) return formatAmount(price.amount, CURRENCY, language);
  return (
    `${formatAmount(price.amountMin, CURRENCY, language)} – ` +
    formatAmount(price.amountMax, CURRENCY, language)
  );
}

export function nameOfFault(
  fault: NonNullable<EmulatorDelivery['fault']>,
  language: Language,
): string {
  return isFault(fault)
    ? FAULT_TEXTS[language][fault].title
    : DASHBOARD_TEXTS[language].disturbed[fault];
}

const VERDICT_TONES: Readonly<Record<NonNullable<EmulatorDelivery['verdict']>, string>> = {
  expected: 'good',
  tolerated: 'note',
  unexpected: 'bad',
};

/**
 * Shows the judgement of a fault's answers. Answers do not show whether the receiver credited the
 * order.
 */
export function Verdict({
  verdict,
  language,
}: Spoken & { readonly verdict: EmulatorDelivery['verdict'] | undefined }) {
  if (verdict === undefined) return <></>;
  return (
    <span class={`badge ${VERDICT_TONES[verdict]}`}>
      {DASHBOARD_TEXTS[language].verdict[verdict]}
    </span>
  );
}

export interface DeliveryRowsProps extends Spoken {
  readonly deliveries: readonly EmulatorDelivery[];
  /** The text of a row's link. On a payment's own page, the reference tells nothing. */
  readonly by: 'reference' | 'kind';
}

export function DeliveryRows({ deliveries, language, by }: DeliveryRowsProps) {
  const texts = DASHBOARD_TEXTS[language];
  if (deliveries.length === 0) return <p class="empty">{texts.noDeliveries}</p>;
  return (
    <ul class="rows">
      {deliveries.map((delivery) => (
        <DeliveryRow delivery={delivery} language={language} by={by} />
      ))}
    </ul>
  );
}

interface DeliveryRowProps extends Spoken, Pick<DeliveryRowsProps, 'by'> {
  readonly delivery: EmulatorDelivery;
}

function DeliveryRow({ delivery, language, by }: DeliveryRowProps) {
  const texts = DASHBOARD_TEXTS[language];
  const { id, event, reference, state, fault, attempts, attemptCount, createdAt, nextAttemptAt } =
    delivery;
  const last = attempts.at(-1);
  const kind = isFault(fault) ? nameOfFault(fault, language) : event;
  return (
    <li data-reference={reference} data-state={state}>
      <a id={`delivery-${id}`} href={`/dashboard/deliveries/${id}`}>
        {by === 'kind' ? kind : <Visible text={clip(reference)} />}
      </a>
      <span class="money">{last?.response?.status ?? ''}</span>
      <div class="more">
        <StateBadge delivery={delivery} language={language} />
        {fault !== undefined && fault !== 'drop' && !(by === 'kind' && isFault(fault)) && (
          <span class="badge note">{nameOfFault(fault, language)}</span>
        )}
        <Verdict verdict={delivery.verdict} language={language} />
        <span>{texts.attemptCount(attemptCount)}</span>
        <Instant at={createdAt} language={language} />
        {last?.error !== undefined && <Visible text={clip(last.error, 80)} />}
        {nextAttemptAt !== undefined && (
          <span>
            {texts.nextAttempt} <Instant at={nextAttemptAt} language={language} />
          </span>
        )}
      </div>
    </li>
  );
}
