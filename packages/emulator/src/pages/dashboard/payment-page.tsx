import { toVisible } from '../../base/visible-text.js';
import type { Link } from '../../contract/payment.js';
import {
  countOf,
  resultOf,
  type DeliveryAttempt,
  type EmulatorDelivery,
  type ReceiverAnswer,
} from '../../deliveries/delivery.js';
import { clip, Visible } from '../visible.js';
import { DashboardFrame, Instant, priceOf, stateOf } from './frame.js';

export interface PaymentPageProps {
  readonly link: Link;
  /** The payment's notifications, newest first. */
  readonly deliveries: readonly EmulatorDelivery[];
}

/** Shows one order: its payment and its notifications. */
export function PaymentPage({ link, deliveries }: PaymentPageProps) {
  const title = link.description ?? link.reference;
  return (
    <DashboardFrame title={toVisible(clip(title))}>
      <h1>
        <Visible text={title} />
      </h1>
      <p>
        {priceOf(link)}, {link.status}, <Visible text={link.reference} />.{' '}
        <a href={`/link/${link.token}`}>Open the payment page</a>
      </p>
      <h2>Notifications</h2>
      {deliveries.length === 0 && <p>No notifications yet.</p>}
      {deliveries.map((delivery) => (
        <Delivery delivery={delivery} token={link.token} />
      ))}
    </DashboardFrame>
  );
}

interface DeliveryProps {
  readonly delivery: EmulatorDelivery;
  /** The token of the payment's link. */
  readonly token: string;
}

/** Shows a notification with its attempts, the newest first, and a button to send it again. */
function Delivery({ delivery, token }: DeliveryProps) {
  const { id, createdAt, state, attempts, nextAttemptAt } = delivery;
  return (
    <article id={`delivery-${id}`} data-state={state}>
      <form method="post" action={`/dashboard/payments/${token}/resend`}>
        <input type="hidden" name="delivery" value={id} />
        <p>
          <Instant at={createdAt} />: {stateOf(delivery)}. {countOf(delivery)}
          {nextAttemptAt !== undefined && ', the next at '}
          {nextAttemptAt !== undefined && <Instant at={nextAttemptAt} />}
        </p>
        <button type="submit">Send again</button>
      </form>
      {attempts.toReversed().map((attempt) => (
        <Attempt attempt={attempt} />
      ))}
    </article>
  );
}

function Attempt({ attempt }: { readonly attempt: DeliveryAttempt }) {
  const { startedAt, durationMs, request, response } = attempt;
  const { pathname, search } = new URL(request.url);
  return (
    <details>
      <summary>
        <code>{resultOf(attempt)}</code> <Instant at={startedAt} />, {Math.round(durationMs)} ms
      </summary>
      <Message start={`POST ${pathname}${search}`} message={request} />
      {response && <Message start={`HTTP ${response.status}`} message={response} />}
      {response?.truncated === true && <p class="soft">The emulator did not store the rest.</p>}
    </details>
  );
}

interface MessageProps {
  readonly start: string;
  readonly message: Pick<ReceiverAnswer, 'headers' | 'body'>;
}

function Message({ start, message: { headers, body } }: MessageProps) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
  return (
    <pre>
      <Visible text={[start, ...lines, '', body].join('\n')} keep={'\n\t'} />
    </pre>
  );
}
