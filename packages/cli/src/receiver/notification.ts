/** Makes the notification of `trigger` and `sign`. */
import { signedDelivery, type SignedDelivery } from '@paylink/testing';
import { usageFailure } from '../terminal/failure.js';
import { readBytes } from '../terminal/input.js';

/** The event kind in the contract. */
export const PAYMENT_SUCCEEDED = 'payment.succeeded';

/** Returns the headers of a delivery in the contract's spelling. */
export function contractHeaders({ headers }: SignedDelivery): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [spelled(name), value]));
}

function spelled(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
}

export interface NotificationFlags {
  readonly body?: string;
  readonly reference?: string;
  readonly field?: readonly string[];
}

/** Signs the exact bytes of a file, or a body made from a reference and fields. */
export async function makeNotification(
  flags: NotificationFlags,
  type: string,
  secret: string,
): Promise<SignedDelivery> {
  const { body, reference, field } = flags;
  if (!isHeaderValue(type))
    throw usageFailure(
      'the event must be printable ASCII, because it is a header',
      `for example ${PAYMENT_SUCCEEDED}`,
    );
  if (body !== undefined) {
    if (reference !== undefined || field !== undefined) {
      throw usageFailure('--body is the whole body: omit --reference and --field');
    }
    return signedDelivery({ secret, type, rawBody: await readBytes(body, '--body') });
  }
  if (reference === undefined) {
    throw usageFailure(
      'no --reference: name the paid order',
      'a server that accepts the notification credits that order, so name an order that ' +
        'it may credit',
    );
  }
  return signedDelivery({ secret, type, reference, payload: readFields(field) });
}

/** Parses fields of the form name=value. Parses a value as JSON if it is valid JSON. */
export function readFields(
  fields: readonly string[] = [],
  option = '--field',
  example = 'amount=15000',
): Record<string, unknown> {
  return Object.fromEntries(
    fields.map((field) => {
      const equals = field.indexOf('=');
      if (equals < 1)
        throw usageFailure(
          `${option} must have the form name=value`,
          `for example ${option} ${example}`,
        );
      return [field.slice(0, equals), jsonOrText(field.slice(equals + 1))];
    }),
  );
}

function jsonOrText(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function isHeaderValue(value: string): boolean {
  return /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value);
}
