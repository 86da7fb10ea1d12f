/** Which merchant a delivery is of, where one receiver serves several. */
import { settle } from './deadline.js';
import { check, fault } from './errors.js';

/**
 * The merchant whose order numbers these are. `false`: there is only one. A string: this one. A function of the host's
 * context, sync or async: the id under which the secret of the delivery was found. It is asked after the signature was found
 * right, and given 5 seconds; when it fails, hangs or gives no string, the reply is 503 `secret_unavailable`.
 */
export type TenantOption<Host = unknown> = false | string | ((host: Host) => string | Promise<string>);

/** Gives the tenant of one delivery; nothing where there is only one merchant. @throws WebhookError `secret_unavailable` */
export type TenantOf<Host> = (host: Host) => string | undefined | Promise<string>;

const TENANT_TIMEOUT = 5_000;

/** Checks the option at set-up. @throws ConfigurationError */
export function readTenant<Host>(option: TenantOption<Host> | undefined): TenantOf<Host> {
  if (typeof option !== 'function') {
    const fit = option === undefined || option === false || (typeof option === 'string' && option !== '');
    check(fit, 'tenant', 'must be false, a string that is not empty, or a function of the context that gives one');
    return () => (option === false ? undefined : option);
  }
  return async (host) => {
    try {
      const tenant: unknown = await settle(() => option(host), { milliseconds: TENANT_TIMEOUT });
      if (typeof tenant === 'string' && tenant !== '') return tenant;
    } catch (cause) {
      throw fault('secret_unavailable', 'the function given as `tenant` failed', cause);
    }
    throw fault('secret_unavailable', 'the function given as `tenant` must give a string that is not empty');
  };
}

// Registered, since a bundle can hold this file twice.
const KEYED = Symbol.for('paylink.keyed');
const QUEUES = Symbol.for('paylink.queues');

/**
 * Marks a handler that itself keys what it does by tenant, kind and reference, as one that enqueues a job does: a receiver whose
 * `secret` is a function then asks for `tenant` at set-up, as it does with `idempotency`.
 */
export function keyedByTenant<Handler extends (...args: never[]) => unknown>(handler: Handler): Handler {
  return Object.assign(handler, { [KEYED]: true });
}

export function isKeyedByTenant(handler: unknown): boolean {
  return has(KEYED, handler);
}

/** Marks a handler that only queues the event: a mark of the receiver's own store would say done before the credit. */
export function onlyQueues<Handler extends (...args: never[]) => unknown>(handler: Handler): Handler {
  return Object.assign(handler, { [QUEUES]: true });
}

/** Whether a worker runs the event: one that keys what it does has a worker too. */
export function doesQueue(handler: unknown): boolean {
  return has(KEYED, handler) || has(QUEUES, handler);
}

function has(mark: symbol, handler: unknown): boolean {
  return (handler as Readonly<Record<symbol, unknown>>)[mark] === true;
}
