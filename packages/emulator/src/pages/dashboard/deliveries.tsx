import type { Answer, DeliveryAttempt, EmulatorDelivery } from '../../deliveries/delivery.js';
import type { Language } from '../language.js';
import { Visible } from '../visible.js';
import { groupAttempts, type AttemptGroup } from './attempt-groups.js';
import { Ago, StateBadge } from './parts.js';
import { DASHBOARD_TEXTS } from './texts.js';

interface DeliveriesProps {
  readonly language: Language;
  /** Newest first. */
  readonly deliveries: readonly EmulatorDelivery[];
  /** The token of the payment's link. */
  readonly token: string;
}

/** Lists the notifications of a payment with their attempts and a button to send each again. */
export function Deliveries({ language, deliveries, token }: DeliveriesProps) {
  const texts = DASHBOARD_TEXTS[language];
  if (deliveries.length === 0) return <p class="empty">{texts.noDeliveries}</p>;
  return (
    <>
      {deliveries.map((delivery) => (
        <Delivery {...{ language, delivery, token }} />
      ))}
    </>
  );
}

interface DeliveryProps extends Pick<DeliveriesProps, 'language' | 'token'> {
  readonly delivery: EmulatorDelivery;
}

function Delivery({ language, delivery, token }: DeliveryProps) {
  const texts = DASHBOARD_TEXTS[language];
  const { id, event, url, createdAt, state, attempts, attemptCount, nextAttemptAt } = delivery;
  return (
    <article class="delivery" id={`delivery-${id}`} data-state={state}>
      <div class="title">
        <h3>{event}</h3>
        <StateBadge delivery={delivery} language={language} />
        <form method="post" action={`/dashboard/payments/${token}/resend`}>
          <input type="hidden" name="delivery" value={id} />
          <button id={`resend-${id}`} type="submit">
            {texts.resend}
          </button>
        </form>
      </div>
      <p class="more">
        <code>{url}</code>
        <Ago at={createdAt} language={language} />
        <span>{texts.attempts(attemptCount)}</span>
        {nextAttemptAt !== undefined && (
          <span>
            {texts.next} <Ago at={nextAttemptAt} language={language} />
          </span>
        )}
      </p>
      {attempts.length === 0 && attemptCount === 0 && (
        <p class="empty">{state === 'unsent' ? texts.unsentHint : texts.notSentYet}</p>
      )}
      {groupAttempts(attempts).map((group) => (
        <Group {...{ language, group }} />
      ))}
    </article>
  );
}

function Group({
  language,
  group: { result, count, newest },
}: {
  readonly language: Language;
  readonly group: AttemptGroup;
}) {
  const texts = DASHBOARD_TEXTS[language];
  const { number, startedAt, durationMs, response } = newest;
  const isGood = response !== undefined && response.status >= 200 && response.status <= 299;
  const duration = new Intl.NumberFormat(language, { style: 'unit', unit: 'millisecond' });
  // The first number of a group stays the same while attempts join it.
  const id = `attempts-${number - count + 1}-${startedAt.getTime() > 0 ? result.length : 0}`;
  return (
    <details class="attempts" id={id}>
      <summary id={`${id}-summary`}>
        <code class={isGood ? 'badge good' : 'badge bad'}>{result}</code>
        {count > 1 && <b>× {count}</b>}
        <span class="soft">
          {count > 1 && `${texts.last} `}
          <Ago at={startedAt} language={language} /> · {duration.format(Math.round(durationMs))}
        </span>
      </summary>
      <div class="exchange">
        <Request {...{ language, attempt: newest }} />
        <Reply {...{ language, attempt: newest }} />
      </div>
    </details>
  );
}

interface AttemptProps {
  readonly language: Language;
  readonly attempt: DeliveryAttempt;
}

function Request({ language, attempt: { request } }: AttemptProps) {
  const { method, url, headers, body } = request;
  const { pathname, search } = new URL(url);
  return (
    <div>
      <h4>{DASHBOARD_TEXTS[language].request}</h4>
      <Message {...{ start: `${method} ${pathname}${search}`, headers, body }} />
    </div>
  );
}

function Reply({ language, attempt: { response, errorCode = '' } }: AttemptProps) {
  const texts = DASHBOARD_TEXTS[language];
  if (response === undefined) {
    return (
      <div>
        <h4>{texts.noReply}</h4>
        <p>
          {texts.reasons[errorCode]} <code>{errorCode}</code>
        </p>
      </div>
    );
  }
  const { status, headers, body, truncated } = response;
  return (
    <div>
      <h4>{texts.reply}</h4>
      <Message {...{ start: `HTTP ${status}`, headers, body }} />
      {truncated && <p class="hint">{texts.cutOff}</p>}
    </div>
  );
}

interface MessageProps extends Pick<Answer, 'headers' | 'body'> {
  readonly start: string;
}

function Message({ start, headers, body }: MessageProps) {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((line) => `${name}: ${line}`),
  );
  return (
    <pre>
      <Visible text={[start, ...lines, '', body].join('\n')} keep={'\n\t'} />
    </pre>
  );
}
