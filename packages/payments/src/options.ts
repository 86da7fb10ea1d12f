/** Checks the options of `createPayments`. */
import { ConfigurationError, WebhookError, type Logger } from '@paylink/core';
import { check, createLogger, validateBound, validateOptions } from '@paylink/core/internal';
import { Asker } from './asker.js';
import type { Orders, PaymentClient, PaymentOutcome, PaymentsOptions } from './contract.js';
import { field } from './order.js';
import { now, type Run } from './run.js';

export interface Settings {
  /** The merchant's functions, bound. */
  readonly orders: Orders;
  readonly timeout: number;
  readonly logger: Logger;
  readonly observe: ((outcome: PaymentOutcome) => unknown) | undefined;
  /** Returns true on the first call with a key, and again after `milliseconds`. */
  readonly isNews: (key: string, milliseconds?: number) => boolean;
  /** Returns the line of questions of the tenant's client. @throws WebhookError if `client` does */
  readonly askerOf: (tenant: string | null) => Asker;
  /** Forgets the service's answers about an order. */
  readonly forget: (run: Pick<Run, 'key' | 'tenant'>) => void;
  /** Returns the tenant of a call. @throws ConfigurationError */
  readonly tenantOf: (option: unknown) => string | null;
}

const MOST_KNOWN = 1_000;
const NAMES = ['client', 'orders', 'concurrency', 'timeout', 'logger', 'observe'];

export function createSettings(options: PaymentsOptions): Settings {
  const own = validateOptions(options, NAMES);
  const { client, orders, concurrency = 32, timeout = 20_000, logger, observe } = own;
  check(observe === undefined || typeof observe === 'function', 'observe', 'must be a function');
  validateBound('concurrency', concurrency, 1, 1_000);
  validateBound('timeout', timeout, 1, 300_000);
  const isPerTenant = !isClient(client);
  const known = new Map<string, number>();
  const isNews = (key: string, milliseconds = Infinity): boolean => {
    if ((known.get(key) ?? 0) > now()) return false;
    known.delete(key);
    known.set(key, now() + milliseconds);
    if (known.size > MOST_KNOWN) known.delete(known.keys().next().value!);
    return true;
  };
  return {
    orders: bindOrders(orders),
    timeout,
    logger: createLogger(logger),
    observe,
    isNews,
    ...createAskers(client, concurrency),
    tenantOf(tenant = isPerTenant ? undefined : null) {
      if (tenant === null || (typeof tenant === 'string' && tenant !== '')) return tenant;
      const hint = tenant === undefined ? ', because `client` is a function of the tenant' : '';
      throw new ConfigurationError('tenant', `must be a non-empty string or null${hint}`);
    },
  };
}

function isClient(value: unknown): value is PaymentClient {
  return typeof field(value, 'getPayment') === 'function';
}

/** The client of a tenant is made at its first use, because builds import it without secrets. */
function createAskers(
  client: PaymentsOptions['client'],
  concurrency: number,
): Pick<Settings, 'askerOf' | 'forget'> {
  const problem = 'must be an object with getPayment(), or a function that returns one';
  check(isClient(client) || typeof client === 'function', 'client', problem);
  const askers = new Map<string | null, Asker>();
  /** Tenants may share a client, which then has one line. */
  const ofClients = new Map<unknown, Asker>();
  return {
    forget: (run) => askers.get(run.tenant)?.forget(run),
    askerOf(tenant) {
      const known = askers.get(tenant);
      if (known !== undefined) return known;
      try {
        const made: unknown = isClient(client) ? client : client(tenant);
        if (made instanceof Promise) made.catch(() => undefined);
        check(isClient(made), 'client', 'must return an object with getPayment(), not a promise');
        const asker = ofClients.get(made) ?? new Asker(made, concurrency);
        ofClients.set(made, asker);
        askers.set(tenant, asker);
        return asker;
      } catch (cause) {
        throw new WebhookError('confirm_unavailable', { message: '`client` threw', cause });
      }
    },
  };
}

const FUNCTIONS = ['find', 'credit', 'unpaid', 'paid'] as const;

/** A misspelt `unpaid` would switch the schedule off, so unknown names throw. */
function bindOrders(orders: Orders): Orders {
  const isObject = typeof orders === 'object' && orders !== null;
  check(isObject, 'orders', 'must be an object with the functions find() and credit()');
  const bound = Object.create(null) as Partial<Record<keyof Orders, unknown>>;
  for (const name of FUNCTIONS) {
    const value = field(orders, name);
    const isOptional = name === 'unpaid' || name === 'paid';
    if (value === undefined && isOptional) continue;
    check(typeof value === 'function', `orders.${name}`, 'must be a function');
    bound[name] = (value as () => unknown).bind(orders);
  }
  const prototype = Object.getPrototypeOf(orders) as object | null;
  // An object of a class of the merchant may hold its pool beside the functions.
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  if (isPlain) validateOptions(orders, FUNCTIONS, 'orders');
  return bound as unknown as Orders;
}
