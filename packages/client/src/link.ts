import { faultOfReference, isWellFormed } from '@paylink/core/internal';
import { PaylinkError } from './errors.js';

interface AnyLink {
  /** Your own order reference, unique for each order. The payment has the same reference. */
  readonly reference: string;
  /** The page that the customer returns to after paying. */
  readonly return_url?: string | undefined;
  /** The page that the customer returns to after cancelling. */
  readonly cancel_url?: string | undefined;
  /** Use `true` for an order, because two payments for one link cannot be told apart. */
  readonly single_use?: boolean | undefined;
}

/** A link whose amount you set, in the smallest unit of the currency (docs/service.md 2.1.1). */
interface FixedAmountLink extends AnyLink {
  readonly amount: number;
  /** The text that describes the payment. */
  readonly description?: string | undefined;
  readonly amount_min?: never;
  readonly amount_max?: never;
}

/** A link whose amount the customer chooses, from `amount_min` to `amount_max`. */
interface FreeAmountLink extends AnyLink {
  readonly amount_min: number;
  readonly amount_max: number;
  /** The text that describes the payment. */
  readonly description: string;
  readonly amount?: never;
}

/** A request for a payment link, with a fixed amount or with bounds. */
export type PaymentLinkRequest = FixedAmountLink | FreeAmountLink;

export interface CheckedLink {
  readonly reference: string;
  /** The fixed amount, or undefined if the customer chooses it. */
  readonly amount: number | undefined;
  /** The JSON to send. The order of the link's fields does not change it. */
  readonly json: string;
}

/** The rule of each field: returns the fault of a value, or undefined. */
const RULES: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  amount: faultOfAmount,
  amount_min: faultOfAmount,
  amount_max: faultOfAmount,
  reference: faultInPath,
  description: faultOfText,
  return_url: faultOfUrl,
  cancel_url: faultOfUrl,
  single_use: (flag) => (typeof flag === 'boolean' ? undefined : 'must be true or false'),
};

/**
 * Validates a link before anything is sent, and copies it.
 *
 * @throws PaylinkError `invalid_link` that names the field
 */
export function parseLink(link: unknown): CheckedLink {
  if (typeof link !== 'object' || link === null || Array.isArray(link))
    refuse('the link', 'must be an object');
  const fields = { ...link } as PaymentLinkRequest & Readonly<Record<string, unknown>>;
  for (const name of Object.keys(fields)) {
    if (Object.hasOwn(RULES, name) || fields[name] === undefined) continue;
    // A misspelt single_use would create a link that a customer can pay twice.
    const valid = Object.keys(RULES).join(', ');
    refuse(name, `is not a field of a payment link. Valid fields: ${valid}`);
  }
  const required = requiredFields(fields);
  const checked: Record<string, unknown> = {};
  for (const [name, faultOf] of Object.entries(RULES)) {
    const value = fields[name];
    if (value === undefined && !required.includes(name)) continue;
    const fault = value === undefined ? 'is missing' : faultOf(value);
    if (fault !== undefined) refuse(name, fault);
    checked[name] = value;
  }
  const { reference, amount, amount_min = 0, amount_max = 0 } = fields;
  if (amount_min > amount_max) refuse('amount_min', 'must not be more than amount_max');
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

/** A link has an amount, or the bounds and the description of a free amount. */
function requiredFields({ amount, amount_min, amount_max }: PaymentLinkRequest): string[] {
  const hasBounds = amount_min !== undefined || amount_max !== undefined;
  if (amount === undefined) {
    if (hasBounds) return ['amount_min', 'amount_max', 'reference', 'description'];
    refuse('amount', 'is missing. Pass it, or pass amount_min, amount_max and description instead');
  }
  if (!hasBounds) return ['amount', 'reference'];
  refuse('amount', 'excludes amount_min and amount_max: pass the amount or the bounds');
}

function faultOfAmount(amount: unknown): string | undefined {
  if (typeof amount !== 'number') return 'must be a number, in the smallest unit of the currency';
  if (Number.isSafeInteger(amount) && amount > 0) return undefined;
  return `must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}`;
}

function faultOfText(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.trim() === '') return 'must be a string that is not blank';
  return isWellFormed(text) ? undefined : 'must not contain unpaired surrogates';
}

function faultOfUrl(text: unknown): string | undefined {
  if (typeof text !== 'string' || !isWellFormed(text)) return faultOfText(text);
  const isUrl = /^https?:\/\//i.test(text) && URL.canParse(text);
  return isUrl ? undefined : 'must be an absolute http or https URL';
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
