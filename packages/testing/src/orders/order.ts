/**
 * Reads an order as `@paylink/payments` does. The suite imports no code of that package, so it
 * states the same rules again.
 */
import type { Order } from '@paylink/payments';

/** An order that the suite asks the merchant to store. */
export interface NewOrder {
  readonly reference: string;
  /** In the smallest unit of the currency. */
  readonly amount: number;
  readonly currency: string;
  readonly tenant: string | null;
}

/** Reads the fields of a row. Getters of its class count, and `Object.prototype` does not. */
export function readOrder(row: unknown): Order {
  const [reference, amount, currency, paid, closed] = FIELDS.map((name) => field(row, name));
  return { reference, amount, currency, paid, closed } as Order;
}

const FIELDS = ['reference', 'amount', 'currency', 'paid', 'closed'];

/** Returns undefined if `payments` would answer `invalid_order` for this amount. */
export function boundsOf(amount: unknown): { min: bigint; max: bigint } | undefined {
  const isRange = typeof amount === 'object' && amount !== null;
  const min = wholeOf(isRange ? field(amount, 'min') : amount);
  const max = wholeOf(isRange ? field(amount, 'max') : amount);
  if (min === undefined || max === undefined || min > max) return undefined;
  return isRange || min > 0n ? { min, max } : undefined;
}

function wholeOf(amount: unknown): bigint | undefined {
  const isText = typeof amount === 'string' && /^\d{1,40}(\.0{1,40})?$/.test(amount);
  if (isText) return BigInt(amount.split('.')[0]!);
  const isWhole = typeof amount === 'bigint' || Number.isSafeInteger(amount);
  return isWhole && (amount as number | bigint) >= 0
    ? BigInt(amount as number | bigint)
    : undefined;
}

function field(object: unknown, name: string): unknown {
  let holder = Object(object) as object;
  while (!Object.hasOwn(holder, name)) {
    const next = Object.getPrototypeOf(holder) as object | null;
    if (next === null || Object.getPrototypeOf(next) === null) return undefined;
    holder = next;
  }
  return (object as Record<string, unknown>)[name];
}
