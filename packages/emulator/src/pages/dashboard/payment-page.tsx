import { randomUUID } from 'node:crypto';
import { DashboardFrame } from './frame.js';
import { DeliveryRows, Instant, StatusBadge, Verdict } from './parts.js';
import { DASHBOARD_TEXTS } from './texts.js';
import { Timeline } from './timeline-page.js';
import type { Happening } from './timeline.js';
import type { EmulatorDelivery } from '../../deliveries/delivery.js';
import { expectedText, FAULT_TEXTS } from './fault-texts.js';
import { FAULT_NAMES } from '../../faults/faults.js';
import type { Acknowledged } from '../../faults/verdict.js';
import { formatAmount, type Language } from '../language.js';
import { CURRENCY, type Link } from '../../payments/payment.js';
import { Visible } from '../visible.js';

export interface PaymentPageProps {
  readonly language: Language;
  readonly link: Link;
  readonly can: { readonly pay: boolean; readonly fail: boolean; readonly cancel: boolean };
  /** Set if a webhook is configured. */
  readonly hasWebhook: boolean;
  readonly deliveries: readonly EmulatorDelivery[];
  /** The payment's history, newest first. */
  readonly happenings: readonly Happening[];
  readonly acknowledged: Acknowledged;
  /** The newest delivery of each fault. */
  readonly lastFaults: ReadonlyMap<EmulatorDelivery['fault'], EmulatorDelivery>;
  /** An entered amount that the link does not allow. */
  readonly wrongAmount?: string | undefined;
}

/** Shows one payment: its state, its next steps, its notifications, and the faults. */
export function PaymentPage(props: PaymentPageProps) {
  const { language, link, hasWebhook, deliveries } = props;
  const texts = DASHBOARD_TEXTS[language];
  return (
    <DashboardFrame language={language} title={texts.payment}>
      <a class="back" href="/dashboard">
        ← {texts.back}
      </a>
      <div class="stack">
        <div class="title">
          <h1>
            <Visible text={link.reference} />
          </h1>
          <span id="status" data-live>
            <StatusBadge status={link.status} language={language} />
          </span>
        </div>
        <Facts {...props} />
        <section class="card stack" aria-labelledby="actions-heading">
          <h2 id="actions-heading">{texts.actions}</h2>
          {/* Outside the live regions: the token stays, so that a form sent twice pays once. */}
          <input type="hidden" name="page" value={randomUUID()} form="pay-form" />
          <Actions {...props} />
        </section>
        <section class="card" aria-labelledby="deliveries-heading">
          <h2 id="deliveries-heading">{texts.deliveries}</h2>
          <div id="deliveries" data-live>
            <DeliveryRows deliveries={deliveries} language={language} by="kind" />
          </div>
        </section>
        <section class="card" aria-labelledby="timeline-heading">
          <h2 id="timeline-heading">{texts.timeline}</h2>
          <div id="timeline" data-live>
            <Timeline
              {...{ language, happenings: props.happenings, acknowledged: props.acknowledged }}
            />
          </div>
        </section>
        {hasWebhook && <Faults {...props} />}
      </div>
    </DashboardFrame>
  );
}

function Facts({ language, link }: PaymentPageProps) {
  const texts = DASHBOARD_TEXTS[language];
  const { price, amount, description, returnUrl, cancelUrl } = link;
  const format = (value: number): string => formatAmount(value, CURRENCY, language);
  const known = amount ?? ('amount' in price ? price.amount : undefined);
  return (
    <dl class="card facts" id="facts" data-live>
      <div>
        <dt>{texts.amount}</dt>
        <dd>
          {known !== undefined && format(known)}
          {!('amount' in price) &&
            known === undefined &&
            texts.between(format(price.amountMin), format(price.amountMax))}
        </dd>
      </div>
      {description !== undefined && (
        <div>
          <dt>{texts.fields.description}</dt>
          <dd>
            <Visible text={description} />
          </dd>
        </div>
      )}
      <div>
        <dt>{texts.createdAt}</dt>
        <dd>
          <Instant at={link.createdAt} language={language} precisely />
        </dd>
      </div>
      <div>
        <dt>{texts.singleUse}</dt>
        <dd>{link.singleUse ? texts.yes : texts.no}</dd>
      </div>
      {returnUrl !== undefined && (
        <div>
          <dt>{texts.fields.return_url}</dt>
          <dd>
            <code>{returnUrl}</code>
          </dd>
        </div>
      )}
      {cancelUrl !== undefined && (
        <div>
          <dt>{texts.fields.cancel_url}</dt>
          <dd>
            <code>{cancelUrl}</code>
          </dd>
        </div>
      )}
    </dl>
  );
}

function Actions(props: PaymentPageProps) {
  const { language, link, can, hasWebhook } = props;
  const texts = DASHBOARD_TEXTS[language];
  const action = `/dashboard/payments/${link.token}`;
  return (
    <div class="stack" id="actions" data-live>
      {can.pay && (
        <form id="pay-form" method="post" action={`${action}/pay`} class="actions">
          <AmountToPay {...props} />
          <button id="pay" type="submit" class="strong">
            {texts.pay}
          </button>
          {hasWebhook && (
            <button id="pay-silently" type="submit" name="notification" value="drop">
              {texts.paySilently}
            </button>
          )}
        </form>
      )}
      <div class="actions">
        <a id="open-page" class="button" href={`/link/${link.token}`}>
          {texts.openPage}
        </a>
        {can.fail && (
          <form method="post" action={`${action}/fail`}>
            <button id="fail" type="submit">
              {texts.fail}
            </button>
          </form>
        )}
        {can.cancel && (
          <form method="post" action={`${action}/cancel`}>
            <button id="cancel" type="submit">
              {texts.cancel}
            </button>
          </form>
        )}
      </div>
      {!can.pay && !can.fail && !can.cancel && <p class="soft">{texts.noActions}</p>}
    </div>
  );
}

function AmountToPay({ language, link: { price }, wrongAmount }: PaymentPageProps) {
  if ('amount' in price) return <></>;
  const texts = DASHBOARD_TEXTS[language];
  const isWrong = wrongAmount !== undefined;
  const bounds = [price.amountMin, price.amountMax].map((amount) =>
    formatAmount(amount, CURRENCY, language),
  ) as [string, string];
  return (
    <div>
      <label for="amount">{texts.amountToPay}</label>
      <p
        id="amount-hint"
        class={isWrong ? 'hint wrong' : 'hint'}
        role={isWrong ? 'alert' : undefined}
      >
        {isWrong ? texts.amountWrong(...bounds) : texts.between(...bounds)}
      </p>
      <input
        id="amount"
        name="amount"
        inputmode="numeric"
        autocomplete="off"
        value={wrongAmount ?? String(price.amountMin)}
        aria-invalid={isWrong ? 'true' : undefined}
        aria-describedby="amount-hint"
      />
    </div>
  );
}

/**
 * Lists every fault with its expected answers, and the verdict of its last delivery for this
 * payment.
 */
function Faults({ language, link, lastFaults }: PaymentPageProps) {
  const texts = DASHBOARD_TEXTS[language];
  const action = `/dashboard/payments/${link.token}/faults`;
  return (
    <section class="card" id="faults" aria-labelledby="faults-heading">
      <h2 id="faults-heading">{texts.faults}</h2>
      <p class="lead">{texts.faultsHint}</p>
      <form method="post" action={action} class="actions run-all">
        <button id="run-all" type="submit" name="fault" value="all">
          {texts.runAll}
        </button>
      </form>
      <div class="faults">
        {FAULT_NAMES.map((fault) => {
          const { title, sends } = FAULT_TEXTS[language][fault];
          const last = lastFaults.get(fault);
          return (
            <form method="post" action={action} class="fault" data-fault={fault}>
              <div>
                <h3>{title}</h3>
                <p>{sends}</p>
                <div id={`fault-${fault}`} data-live>
                  <p class="expected">
                    {texts.expected} {expectedText(fault, link.status, language)}
                  </p>
                  {last !== undefined && (
                    <a id={`last-${fault}`} href={`/dashboard/deliveries/${last.id}`}>
                      {last.state === 'sent' ? (
                        <Verdict verdict={last.verdict} language={language} />
                      ) : (
                        texts.state.pending
                      )}{' '}
                      <span class="soft">
                        {last.attempts.map(({ response }) => response?.status ?? '—').join(' ')}
                      </span>
                    </a>
                  )}
                </div>
              </div>
              <button
                type="submit"
                name="fault"
                value={fault}
                aria-label={sendLabel(texts.send, title, language)}
              >
                {texts.send}
              </button>
            </form>
          );
        })}
      </div>
    </section>
  );
}

function sendLabel(send: string, title: string, language: Language): string {
  return language === 'fr' ? `${send} : ${title}` : `${send}: ${title}`;
}
