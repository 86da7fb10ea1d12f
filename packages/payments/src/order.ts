/** Reads and checks the row that `find` returns, and compares it with the service's answer. */
import { WebhookError, type WebhookErrorCode } from '@paylink/core';
import type { Order, PaymentOutcome, ServicePayment } from './contract.js';

/**
 * Reads a field of a merchant's object. ORM entities have getters on their class, so inherited
 * fields count. A polluted `Object.prototype` does not.
 */
export function field(object: unknown, name: string): unknown {
  let holder = Object(object) as object;
  while (!Object.hasOwn(holder, name)) {
    const next = Object.getPrototypeOf(holder) as object | null;
    if (next === null || Object.getPrototypeOf(next) === null) return undefined;
    holder = next;
  }
  return (object as Record<string, unknown>)[name];
}

/** Reads a field of an error, whose getters may throw. */
export function fieldOfError(error: unknown, name: string): unknown {
  try {
    return field(error, name);
  } catch {
    return undefined;
  }
}

/** Names an order in a map. Each order of each tenant has a unique name. */
export function keyOf({ tenant, reference }: Pick<PaymentOutcome, 'tenant' | 'reference'>): string {
  return tenant === null ? `-${reference}` : `${tenant.length}:${tenant}${reference}`;
}

/** The fields of the row that `find` returned, not checked yet. */
export type Row = Pick<Order, 'reference'> & { readonly [Name in keyof Order]: unknown };

/** Reads each field of the object that `find` returned. Returns other values unchanged. */
export function readFields(row: unknown): unknown {
  if (typeof row !== 'object' || row === null) return row;
  const given = field(row, 'amount');
  const isRange = typeof given === 'object' && given !== null;
  return {
    reference: field(row, 'reference'),
    amount: isRange ? { min: field(given, 'min'), max: field(given, 'max') } : given,
    currency: field(row, 'currency'),
    paid: field(row, 'paid'),
    closed: field(row, 'closed'),
  };
}

/** @throws WebhookError `unknown_order` or `invalid_order` */
export function toRow(fields: unknown, reference: string): Row {
  if (fields === undefined || fields === null) throw unknown('find() returned no order');
  if (typeof fields !== 'object') {
    throw runError('invalid_order', 'find() must return an object, null or undefined');
  }
  const { reference: stored } = fields as Record<string, unknown>;
  if (stored === reference) return fields as Row;
  if (typeof stored === 'string') {
    throw unknown('find() returned an order whose reference is spelled differently');
  }
  throw unknown('find() returned a row without `reference` as a string: return it as stored');
}

/** An order that can be compared with a payment. */
export interface CheckedOrder {
  readonly min: bigint;
  readonly max: bigint;
  readonly currency: string;
  readonly closed: boolean;
}

/** @throws WebhookError `invalid_order` that names the field */
export function checkOrder(row: Omit<Row, 'reference'>): CheckedOrder {
  const { amount, currency, paid, closed = false } = row;
  if (typeof paid !== 'boolean') throw invalid('paid', 'must be true or false');
  if (typeof closed !== 'boolean') throw invalid('closed', 'must be true, false or absent');
  if (typeof currency !== 'string' || currency === '') {
    throw invalid('currency', 'must be a non-empty string');
  }
  if (typeof amount !== 'object' || amount === null) {
    const exact = parseAmount(amount);
    if (exact === undefined || exact === 0n) throw invalid('amount', `must be above 0${FORM}`);
    return { min: exact, max: exact, currency, closed };
  }
  const min = parseAmount(field(amount, 'min'));
  const max = parseAmount(field(amount, 'max'));
  if (min === undefined || max === undefined || min > max) {
    throw invalid('amount', `must be one amount, or { min, max } with 0 ≤ min ≤ max${FORM}`);
  }
  return { min, max, currency, closed };
}

const FORM = ', as a safe integer, a bigint, or digits with at most a fraction of zeros';

function parseAmount(amount: unknown): bigint | undefined {
  if (typeof amount === 'bigint') return amount < 0n ? undefined : amount;
  if (typeof amount === 'number') {
    return Number.isSafeInteger(amount) && amount >= 0 ? BigInt(amount) : undefined;
  }
  const digits = typeof amount === 'string' ? /^(\d{1,40})(\.0{1,40})?$/.exec(amount) : null;
  return digits === null ? undefined : BigInt(digits[1]!);
}

/** Returns what differs between the order and the payment, for people, or undefined. */
export function differenceOf(
  { min, max, currency }: CheckedOrder,
  payment: Pick<ServicePayment, 'amount' | 'currency'>,
): string | undefined {
  const amount = BigInt(payment.amount!);
  if (amount < min || amount > max) {
    const stored = min === max ? `${min}` : `${min} to ${max}`;
    return `the service took the amount ${amount}, and the order has ${stored}`;
  }
  if (payment.currency === currency) return undefined;
  const [taken, stored] = [quote(payment.currency), quote(currency)];
  return `the service took the currency ${taken}, and the order has ${stored}`;
}

function quote(text: unknown): string {
  return JSON.stringify(String(text).slice(0, 20));
}

function unknown(message: string): WebhookError {
  return runError('unknown_order', message);
}

function invalid(name: string, problem: string): WebhookError {
  return runError('invalid_order', `\`${name}\` of the order ${problem}`);
}

/** Makes the error with which a run ends. */
export function runError(code: WebhookErrorCode, message: string, cause?: unknown): WebhookError {
  return new WebhookError(code, { message, cause });
}
