import { faultOfReference, isWellFormed } from '@paylink/core/internal';
import { PaylinkError } from './errors.js';

interface AnyLink {
  /** Your own order reference, one per order. The payment has the same reference. */
  readonly reference: string;
  /** The address for the customer after paying. */
  readonly return_url?: string | undefined;
  /** The address for the customer after cancelling. */
  readonly cancel_url?: string | undefined;
  /** `true` for an order, because two payments of one link are indistinguishable. */
  readonly single_use?: boolean | undefined;
}

/** A link whose amount you set, in the smallest unit of the currency (docs/service.md 2.1.1). */
interface FixedAmountLink extends AnyLink {
  readonly amount: number;
  readonly description?: string | undefined;
  readonly amount_min?: never;
  readonly amount_max?: never;
}

/** A link whose amount the customer chooses, from `amount_min` to `amount_max`. */
interface FreeAmountLink extends AnyLink {
  readonly amount_min: number;
  readonly amount_max: number;
  readonly description: string;
  readonly amount?: never;
}

/** A request for a payment link: an amount, or bounds instead. */
export type PaymentLinkRequest = FixedAmountLink | FreeAmountLink;

/** A validated link. */
export interface CheckedLink {
  readonly reference: string;
  /** The fixed amount, absent for a free one. */
  readonly amount: number | undefined;
  /** The JSON to send. Equal links give equal texts, in any order of their fields. */
  readonly json: string;
}

type Fields = Readonly<Record<string, unknown>>;

const FIELDS =
  'amount amount_min amount_max reference description return_url cancel_url single_use'.split(' ');

/**
 * Validates a link before anything is sent, and copies it.
 *
 * @throws PaylinkError `invalid_link` that names the field
 */
export function parseLink(link: unknown): CheckedLink {
  if (typeof link !== 'object' || link === null || Array.isArray(link))
    refuse('the link', 'must be an object');
  const fields: Fields = { ...link };
  const unknown = Object.keys(fields).find(
    (name) => !FIELDS.includes(name) && fields[name] !== undefined,
  );
  // A misspelt single_use would create a link that a customer can pay twice.
  if (unknown !== undefined)
    refuse(unknown, `is not a field of a payment link. Valid fields: ${FIELDS.join(', ')}`);

  const fault = faultInPath(fields['reference']);
  if (fault !== undefined) refuse('reference', fault);
  const checked = {
    ...parsePrice(fields),
    reference: fields['reference'] as string,
    description: validateText(fields, 'description'),
    return_url: validateUrl(fields, 'return_url'),
    cancel_url: validateUrl(fields, 'cancel_url'),
    single_use: validateFlag(fields, 'single_use'),
  };
  if (checked.amount === undefined && checked.description === undefined)
    refuse('description', 'is required for a free amount');
  const { reference, amount } = checked;
  return { reference, amount, json: JSON.stringify(checked) };
}

/**
 * Validates the caller's key, or makes a random one.
 *
 * @throws PaylinkError `invalid_idempotency_key`
 */
export function validateIdempotencyKey(key: unknown): string {
  if (key === undefined) return crypto.randomUUID();
  if (typeof key === 'string' && /^[\x20-\x7e]{1,255}$/.test(key) && key.trim() === key) return key;
  throw new PaylinkError(
    'invalid_idempotency_key',
    'idempotencyKey must be 1 to 255 characters of printable ASCII, and must not start ' +
      'or end with whitespace. To make a key from a reference, use its SHA-256 in hex',
  );
}

function parsePrice(fields: Fields): {
  amount?: number;
  amount_min?: number;
  amount_max?: number;
} {
  const { amount, amount_min: min, amount_max: max } = fields;
  const hasBounds = min !== undefined || max !== undefined;
  if (amount !== undefined && hasBounds)
    refuse('amount', 'excludes amount_min and amount_max: pass the amount or the bounds');
  if (amount === undefined && !hasBounds)
    refuse('amount', 'is missing. Pass it, or pass amount_min, amount_max and description instead');
  if (amount !== undefined) return { amount: validateAmount('amount', amount) };
  const amount_min = validateAmount('amount_min', min);
  const amount_max = validateAmount('amount_max', max);
  if (amount_min > amount_max) refuse('amount_min', 'must not be more than amount_max');
  return { amount_min, amount_max };
}

function validateAmount(name: string, amount: unknown): number {
  if (typeof amount !== 'number')
    refuse(name, 'must be a number, in the smallest unit of the currency');
  if (!Number.isSafeInteger(amount) || amount < 1)
    refuse(name, `must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}`);
  return amount;
}

function validateText(fields: Fields, name: string): string | undefined {
  const text = fields[name];
  if (text === undefined) return undefined;
  if (typeof text !== 'string' || text.trim() === '')
    refuse(name, 'must be a string that is not blank');
  if (!isWellFormed(text)) refuse(name, 'must not contain unpaired surrogates');
  return text;
}

function validateUrl(fields: Fields, name: string): string | undefined {
  const text = validateText(fields, name);
  if (text === undefined) return undefined;
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    refuse(name, 'must be an absolute http or https URL');
  return text;
}

function validateFlag(fields: Fields, name: string): boolean | undefined {
  const flag = fields[name];
  if (flag !== undefined && typeof flag !== 'boolean') refuse(name, 'must be true or false');
  return flag;
}

function refuse(field: string, problem: string): never {
  throw new PaylinkError('invalid_link', `${field} ${problem}`);
}

/** Returns the fault of a reference in a path, or undefined. */
export function faultInPath(reference: unknown): string | undefined {
  // A URL drops these path segments, encoded or not, and the request would go to another address.
  const isDots = reference === '.' || reference === '..';
  return isDots ? 'must not be "." or "..", because URLs drop them' : faultOfReference(reference);
}
