import { ConfigurationError } from './errors.js';
import type { WebhookEvent } from './event.js';

// Symbol.for, so that a reader from another copy of this package finds the event. A body parser writes
// strings as keys, and no text that it parses becomes a symbol.
const EVENT = Symbol.for('paylink.event');

interface Holder {
  [EVENT]?: WebhookEvent;
}

/** Keeps the event that a gate proved on the host's request or context. */
export function keepEvent(holder: object, event: WebhookEvent): void {
  (holder as Holder)[EVENT] = event;
}

/**
 * Returns the event that a gate proved for this request.
 *
 * @throws ConfigurationError if no gate is in front: it fails closed.
 */
export function webhookEvent(holder: object): WebhookEvent {
  const { [EVENT]: event } = holder as Holder;
  if (event !== undefined) return event;
  const problem =
    'found no verified event: put paymentWebhook({ secret }) in front of this handler';
  throw new ConfigurationError('webhookEvent', problem);
}
