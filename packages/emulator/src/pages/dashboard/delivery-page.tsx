import { isUtf8 } from 'node:buffer';
import type { DeliveryAttempt, SentRequest } from '../../deliveries/attempt.js';
import { DashboardFrame } from './frame.js';
import { Instant, nameOfFault, StateBadge, Verdict } from './parts.js';
import { DASHBOARD_TEXTS } from './texts.js';
import { toCurl } from '../../deliveries/curl.js';
import type { EmulatorDelivery } from '../../deliveries/delivery.js';
import { expectedText, FAULT_TEXTS } from './fault-texts.js';
import { isFault } from '../../faults/faults.js';
import { expectationOf, judgeOne, type Acknowledged } from '../../faults/verdict.js';
import type { Language } from '../language.js';
import type { Answer } from '../../deliveries/send.js';
import { Visible } from '../visible.js';

export interface DeliveryPageProps {
  readonly language: Language;
  readonly delivery: EmulatorDelivery;
  /** The address of the payment's page, if the emulator still knows the payment. */
  readonly paymentPath: string | undefined;
  /** Decides which statuses end a delivery. */
  readonly acknowledged: Acknowledged;
  /** A forbidden resend address that the user entered. */
  readonly wrongTarget?: string | undefined;
}

/** Shows one notification: its state, and each attempt with request and answer. */
export function DeliveryPage(props: DeliveryPageProps) {
  const { language, delivery, paymentPath, wrongTarget } = props;
  const texts = DASHBOARD_TEXTS[language];
  return (
    <DashboardFrame language={language} title={texts.delivery}>
      <a class="back" href={paymentPath ?? '/dashboard'}>
        ← {paymentPath === undefined ? texts.back : texts.payment}
      </a>
      <div class="stack">
        <div class="title">
          <h1>
            {texts.delivery} <Visible text={delivery.reference} />
          </h1>
          <span id="state" data-live>
            <StateBadge delivery={delivery} language={language} />{' '}
            <Verdict verdict={delivery.verdict} language={language} />
          </span>
        </div>
        <Facts {...props} />
        {isResendable(delivery) && (
          <form
            method="post"
            action={`/dashboard/deliveries/${delivery.id}/resend`}
            class="search resend"
          >
            <div>
              <label for="url">{texts.sendTo}</label>
              <input
                id="url"
                name="url"
                inputmode="url"
                autocomplete="off"
                value={wrongTarget ?? delivery.url}
                aria-invalid={wrongTarget === undefined ? undefined : 'true'}
                aria-describedby={wrongTarget === undefined ? undefined : 'url-hint'}
              />
              {wrongTarget !== undefined && (
                <p class="hint wrong" id="url-hint" role="alert">
                  {texts.wrongTarget}
                </p>
              )}
            </div>
            <button type="submit" class="strong">
              {texts.resend}
            </button>
          </form>
        )}
        <section class="card" aria-labelledby="attempts-heading">
          <h2 id="attempts-heading">{texts.attempts}</h2>
          <div id="attempts" data-live>
            <Attempts {...props} />
          </div>
        </section>
      </div>
    </DashboardFrame>
  );
}

/** Excludes faults, which the user sends again from the payment's page. */
function isResendable({ fault }: EmulatorDelivery): boolean {
  return fault === undefined || !isFault(fault);
}

function Facts({ language, delivery }: DeliveryPageProps) {
  const texts = DASHBOARD_TEXTS[language];
  const { event, url, createdAt, fault, paymentStatus = 'success', nextAttemptAt } = delivery;
  return (
    <dl class="card facts" id="facts" data-live>
      {fault === undefined && (
        <div>
          <dt>{texts.event}</dt>
          <dd>
            <code>{event}</code>
          </dd>
        </div>
      )}
      {fault !== undefined && (
        <div>
          <dt>{texts.fault}</dt>
          <dd>{nameOfFault(fault, language)}</dd>
          {isFault(fault) && <dd>{FAULT_TEXTS[language][fault].sends}</dd>}
        </div>
      )}
      {fault !== undefined && isFault(fault) && (
        <div>
          <dt>{texts.expected.replace(/\s?:$/, '')}</dt>
          <dd>{expectedText(fault, paymentStatus, language)}</dd>
          <dd class="soft">{texts.judgedAs(texts.status[paymentStatus])}</dd>
        </div>
      )}
      <div>
        <dt>{texts.address}</dt>
        <dd>
          <code>{url}</code>
        </dd>
      </div>
      <div>
        <dt>{texts.createdAt}</dt>
        <dd>
          <Instant at={createdAt} language={language} precisely />
        </dd>
      </div>
      {nextAttemptAt !== undefined && (
        <div>
          <dt>{texts.nextAttempt}</dt>
          <dd>
            <Instant at={nextAttemptAt} language={language} precisely />
          </dd>
        </div>
      )}
    </dl>
  );
}

function Attempts({ language, delivery, acknowledged }: DeliveryPageProps) {
  const texts = DASHBOARD_TEXTS[language];
  const { state, attempts, attemptCount } = delivery;
  if (attempts.length === 0)
    return <p class="empty">{state === 'dropped' ? texts.neverSent : texts.notSentYet}</p>;
  return (
    <>
      {attempts.length < attemptCount && <p class="soft">{texts.newestOnly(attempts.length)}</p>}
      {attempts.toReversed().map((attempt, index) => (
        <Attempt
          attempt={attempt}
          delivery={delivery}
          acknowledged={acknowledged}
          language={language}
          isOpen={index === 0}
        />
      ))}
    </>
  );
}

interface AttemptProps {
  readonly attempt: DeliveryAttempt;
  readonly delivery: EmulatorDelivery;
  readonly acknowledged: Acknowledged;
  readonly language: Language;
  readonly isOpen: boolean;
}

function Attempt({
  attempt,
  delivery: { fault, paymentStatus = 'success' },
  acknowledged,
  language,
  isOpen,
}: AttemptProps) {
  const { number, startedAt, durationMs, request, response, error } = attempt;
  const texts = DASHBOARD_TEXTS[language];
  const isGood = isFault(fault)
    ? judgeOne(expectationOf(fault, paymentStatus), attempt, acknowledged) !== 'unexpected'
    : response !== undefined && acknowledged(response.status);
  const duration = new Intl.NumberFormat(language, { style: 'unit', unit: 'millisecond' }).format(
    Math.round(durationMs),
  );
  return (
    <details class="attempt" id={`attempt-${number}`} open={isOpen}>
      <summary id={`attempt-${number}-summary`}>
        <b>
          {texts.attempt} {number}
        </b>
        <span class={isGood ? 'badge good' : 'badge bad'}>{response?.status ?? '—'}</span>
        <span class="soft">
          <Instant at={startedAt} language={language} /> · {duration}
        </span>
      </summary>
      <div class="exchange">
        <div>
          <h3>{texts.request}</h3>
          <RequestText request={request} language={language} />
          <details class="curl" id={`curl-${number}`}>
            <summary id={`curl-${number}-summary`}>{texts.asCurl}</summary>
            <pre id={`curl-${number}-text`}>{toCurl(request)}</pre>
            <button
              type="button"
              hidden
              data-copy={`curl-${number}-text`}
              data-copied={texts.copied}
            >
              {texts.copy}
            </button>
          </details>
        </div>
        <div>
          <h3>{texts.reply}</h3>
          {response === undefined ? (
            <p>
              {texts.noReply} <Visible text={error ?? ''} />
            </p>
          ) : (
            <ReplyText response={response} language={language} />
          )}
        </div>
      </div>
    </details>
  );
}

function RequestText({
  request,
  language,
}: {
  readonly request: SentRequest;
  readonly language: Language;
}) {
  const { method, url, headerLines, body, rawBody } = request;
  const { pathname, search } = new URL(url);
  const head = [
    `${method} ${pathname}${search} HTTP/1.1`,
    ...headerLines.map(([name, value]) => `${name}: ${value}`),
  ].join('\n');
  const isText = isUtf8(rawBody);
  return (
    <>
      <pre>
        <Visible text={isText ? `${head}\n\n${body}` : head} keep={'\n\t'} />
      </pre>
      {!isText && (
        <>
          <p class="hint">{DASHBOARD_TEXTS[language].bytesInHex(rawBody.byteLength)}</p>
          <pre>
            {Buffer.from(rawBody)
              .toString('hex')
              .replace(/(..)(?!$)/g, '$1 ')}
          </pre>
        </>
      )}
    </>
  );
}

function ReplyText({
  response,
  language,
}: {
  readonly response: Answer;
  readonly language: Language;
}) {
  const { status, headers, body, truncated } = response;
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((line) => `${name}: ${line}`),
  );
  return (
    <>
      <pre>
        <Visible text={[`HTTP ${status}`, ...lines, '', body].join('\n')} keep={'\n\t'} />
      </pre>
      {truncated && <p class="hint">{DASHBOARD_TEXTS[language].cutOff}</p>}
    </>
  );
}
