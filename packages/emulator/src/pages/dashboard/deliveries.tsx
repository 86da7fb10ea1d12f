import type { DeliveryAttempt, EmulatorDelivery } from '../../deliveries/delivery.js';
import { useLanguage } from '../language.js';
import { Visible } from '../visible.js';
import { groupAttempts, type AttemptGroup } from './attempt-groups.js';
import { Ago, StateBadge } from './parts.js';
import { useTexts } from './texts.js';

interface DeliveryProps {
  readonly delivery: EmulatorDelivery;
  /** The token of the payment's link. */
  readonly token: string;
}

/** Shows a notification with its attempts and a button to send it again. */
export function Delivery({ delivery, token }: DeliveryProps) {
  const texts = useTexts();
  const { id, event, url, createdAt, state, attempts, attemptCount, nextAttemptAt } = delivery;
  return (
    <article class="delivery" id={`delivery-${id}`} data-state={state}>
      <div class="title">
        <h3>{event}</h3>
        <StateBadge delivery={delivery} />
        <form method="post" action={`/dashboard/payments/${token}/resend`}>
          <input type="hidden" name="delivery" value={id} />
          <button id={`resend-${id}`} type="submit">
            {texts.resend}
          </button>
        </form>
      </div>
      <p class="more">
        <code>{url}</code>
        <Ago at={createdAt} />
        {attemptCount > 0 && <span>{texts.attempts(attemptCount)}</span>}
        {nextAttemptAt !== undefined && (
          <span>
            {texts.next} <Ago at={nextAttemptAt} />
          </span>
        )}
      </p>
      {attemptCount === 0 && (
        <p class="empty">{state === 'unsent' ? texts.unsentHint : texts.notSentYet}</p>
      )}
      {groupAttempts(attempts).map((group) => (
        <Group {...{ group, id: `attempts-${id}-${group.first}` }} />
      ))}
    </article>
  );
}

interface GroupProps {
  readonly group: AttemptGroup;
  readonly id: string;
}

function Group({ group: { result, count, newest, isGood }, id }: GroupProps) {
  const texts = useTexts();
  const duration = new Intl.NumberFormat(useLanguage(), { style: 'unit', unit: 'millisecond' });
  return (
    <details id={id}>
      <summary id={`${id}-summary`}>
        <code class={isGood ? 'badge good' : 'badge bad'}>{result}</code>
        {count > 1 && <b>× {count}</b>}
        <span class="soft">
          {count > 1 && `${texts.last} `}
          <Ago at={newest.startedAt} /> · {duration.format(Math.round(newest.durationMs))}
        </span>
      </summary>
      <Exchange attempt={newest} />
    </details>
  );
}

function Exchange({ attempt }: { readonly attempt: DeliveryAttempt }) {
  const texts = useTexts();
  const { request, response, errorCode = '' } = attempt;
  const { pathname, search } = new URL(request.url);
  return (
    <div class="exchange">
      <div>
        <h4>{texts.request}</h4>
        <Message start={`POST ${pathname}${search}`} message={request} />
      </div>
      <div>
        <h4>{response === undefined ? texts.noReply : texts.reply}</h4>
        {response === undefined ? (
          <p>
            {texts.reasons[errorCode]} <code>{errorCode}</code>
          </p>
        ) : (
          <Message start={`HTTP ${response.status}`} message={response} />
        )}
        {response?.truncated === true && <p class="soft">{texts.cutOff}</p>}
      </div>
    </div>
  );
}

interface MessageProps {
  readonly start: string;
  readonly message: {
    readonly headers: Readonly<Record<string, string | readonly string[]>>;
    readonly body: string;
  };
}

function Message({ start, message: { headers, body } }: MessageProps) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
  return (
    <pre>
      <Visible text={[start, ...lines, '', body].join('\n')} keep={'\n\t'} />
    </pre>
  );
}
