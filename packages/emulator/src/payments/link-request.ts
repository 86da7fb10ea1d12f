import { refuse } from '../base/emulator-error.js';
import type { Assumed } from '../contract/assumed.js';
import type { PaymentLinkFields } from '../contract/payment.js';

const FIELDS =
  'amount amount_min amount_max reference description return_url cancel_url single_use'.split(' ');

type Fields = Readonly<Record<string, unknown>>;

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads the body of POST /v1/payment-links. @throws EmulatorError `invalid_request` that names the
 * field
 */
export function parseLinkRequest(body: Uint8Array, assumed: Assumed): PaymentLinkFields {
  const fields = parseObject(body);
  if (assumed.unknownFields === 'refuse') {
    const unknown = Object.keys(fields).find((name) => !FIELDS.includes(name));
    if (unknown !== undefined)
      refuse(`${JSON.stringify(unknown)} is not a field of a payment link`);
  }
  const price = parsePrice(fields, assumed);
  const description = parseText(fields, 'description', assumed.descriptionLength);
  if (description === undefined && !('amount' in price))
    refuse('description is required for a free amount');
  const request = {
    reference: parseReference(fields, assumed.referenceLength),
    ...price,
    description,
    return_url: parseUrl(fields, 'return_url', assumed.urlLength),
    cancel_url: parseUrl(fields, 'cancel_url', assumed.urlLength),
    single_use: parseFlag(fields, 'single_use'),
  };
  const given = Object.entries(request).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as PaymentLinkFields;
}

function parseObject(body: Uint8Array): Fields {
  let value: unknown;
  try {
    value = JSON.parse(decoder.decode(body));
  } catch {
    refuse('the body is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    refuse('the body is not a JSON object');
  return value as Fields;
}

function parsePrice(
  fields: Fields,
  assumed: Assumed,
): { amount: number } | { amount_min: number; amount_max: number } {
  const { amount, amount_min: min, amount_max: max } = fields;
  if (amount !== undefined) {
    if (min !== undefined || max !== undefined)
      refuse('use either amount, or amount_min and amount_max');
    return { amount: validateAmount('amount', amount, assumed) };
  }
  if (min === undefined && max === undefined)
    refuse('amount is required, or amount_min and amount_max instead');
  const amount_min = validateAmount('amount_min', min, assumed);
  const amount_max = validateAmount('amount_max', max, assumed);
  if (amount_min > amount_max) refuse('amount_min must not exceed amount_max');
  return { amount_min, amount_max };
}

function validateAmount(
  name: string,
  value: unknown,
  { lowestAmount, highestAmount }: Assumed,
): number {
  if (!Number.isSafeInteger(value)) refuse(`${name} must be an integer`);
  const amount = value as number;
  if (amount < lowestAmount || amount > highestAmount)
    refuse(`${name} must be from ${lowestAmount} to ${highestAmount}`);
  return amount;
}

function parseReference(fields: Fields, length: number): string {
  const reference = parseText(fields, 'reference', length);
  if (reference === undefined) refuse('reference is required');
  // URL parsers drop these path segments, so the payment could never be read.
  if (reference === '.' || reference === '..') refuse('reference must not be "." or ".."');
  return reference;
}

function parseText(fields: Fields, name: string, length: number): string | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string' || value.trim() === '')
    refuse(`${name} must be a non-blank string`);
  if (value.length > length) refuse(`${name} must have at most ${length} characters`);
  if (value.includes('\0') || /\p{Surrogate}/u.test(value))
    refuse(`${name} must not have NUL or unpaired surrogates`);
  return value;
}

function parseUrl(fields: Fields, name: string, length: number): string | undefined {
  const text = parseText(fields, name, length);
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    refuse(`${name} must be an http or https URL`);
  // The hosted page puts the host into its Content-Security-Policy, where a ";" would start another
  // directive.
  if (!/^[a-z0-9._\-[\]:]+$/.test(url.host)) refuse(`${name} must have a plain host name`);
  return url.href;
}

function parseFlag(fields: Fields, name: string): boolean {
  const value = fields[name];
  if (value === undefined || value === null) return false;
  if (typeof value !== 'boolean') refuse(`${name} must be true or false`);
  return value;
}
