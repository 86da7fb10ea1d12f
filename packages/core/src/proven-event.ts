import { ConfigurationError } from './errors.js';
import type { WebhookEvent } from './event.js';

// Symbol.for, so that another copy of this package finds the event. A body parser writes only
// string keys, so no body can forge the event.
const EVENT = Symbol.for('paylink.event');

export function keepEvent(holder: object, event: WebhookEvent): void {
  (holder as { [EVENT]?: WebhookEvent })[EVENT] = event;
}

/**
 * Returns the event that a gate verified for this request.
 *
 * @throws ConfigurationError if the route has no gate
 */
export function webhookEvent(holder: object): WebhookEvent {
  const { [EVENT]: event } = holder as { readonly [EVENT]?: WebhookEvent };
  if (event !== undefined) return event;
  const problem = 'found no verified event: put paymentGate({ secret }) in front of this handler';
  throw new ConfigurationError('webhookEvent', problem);
}
