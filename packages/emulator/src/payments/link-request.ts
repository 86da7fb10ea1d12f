import { refuse } from '../base/emulator-error.js';
import type { PaymentLinkFields } from '../contract/payment.js';

// The contract names no limits.
const REFERENCE_LENGTH = 255;
const DESCRIPTION_LENGTH = 1_000;
const URL_LENGTH = 2_048;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Parses the decoded body of POST /v1/payment-links.
 *
 * @throws EmulatorError `invalid_request` with the field's name
 */
export function parseLinkRequest(body: unknown): PaymentLinkFields {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    refuse('the body is not a JSON object');
  const fields = body as Fields;
  const price = parsePrice(fields);
  const description = parseText(fields, 'description', DESCRIPTION_LENGTH);
  if (description === undefined && !('amount' in price))
    refuse('description is required for a free amount');
  const request = {
    reference: parseReference(fields),
    ...price,
    description,
    return_url: parseUrl(fields, 'return_url'),
    cancel_url: parseUrl(fields, 'cancel_url'),
    single_use: parseFlag(fields, 'single_use'),
  };
  const given = Object.entries(request).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as PaymentLinkFields;
}

function parsePrice(
  fields: Fields,
): { amount: number } | { amount_min: number; amount_max: number } {
  const { amount, amount_min: min, amount_max: max } = fields;
  if (amount !== undefined) {
    if (min !== undefined || max !== undefined)
      refuse('use either amount, or amount_min and amount_max');
    return { amount: validateAmount('amount', amount) };
  }
  if (min === undefined && max === undefined)
    refuse('amount is required, or amount_min and amount_max instead');
  const amount_min = validateAmount('amount_min', min);
  const amount_max = validateAmount('amount_max', max);
  if (amount_min > amount_max) refuse('amount_min must not exceed amount_max');
  return { amount_min, amount_max };
}

function validateAmount(name: string, value: unknown): number {
  if (!Number.isSafeInteger(value)) refuse(`${name} must be an integer`);
  if ((value as number) < 1) refuse(`${name} must be from 1 to ${Number.MAX_SAFE_INTEGER}`);
  return value as number;
}

function parseReference(fields: Fields): string {
  const reference = parseText(fields, 'reference', REFERENCE_LENGTH);
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
    refuse(`${name} must not contain NUL or unpaired surrogates`);
  return value;
}

function parseUrl(fields: Fields, name: string): string | undefined {
  const text = parseText(fields, name, URL_LENGTH);
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
