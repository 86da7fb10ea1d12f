/** From proven bytes to a typed event. Nothing in this file runs before the signature was found to be right. */
import { check, fault, type WebhookError } from './errors.js';
import type { EventSchemas, NoEvents, SchemaOutput, StandardSchema } from './schema.js';
import { isWellFormed } from './bytes.js';

/** The parsed body. Its other fields are `unknown`: an amount in it must not be credited (docs/service.md 6.8). */
export type WebhookPayload = { readonly reference: string } & Readonly<Record<string, unknown>>;

/** What every event has. */
export interface WebhookEventBase {
  /** The merchant's own reference of the payment, as it was sent: an opaque string. */
  readonly reference: string;
  /** The bytes that were signed. */
  readonly rawBody: Uint8Array;
  /** Which of the configured secrets matched; above 0, a sender still uses an old one. */
  readonly secretIndex: number;
}

/** An event of a configured kind. `type` comes from the event header, which the signature does not cover. */
export interface KnownEvent<Type extends string = string, Payload = WebhookPayload> extends WebhookEventBase {
  readonly type: Type;
  readonly payload: Payload;
}

/** A signed event of a kind that is not configured. */
export interface UnrecognizedEvent extends WebhookEventBase {
  readonly type: 'unrecognized';
  /** The kind as it was sent: 1 to 128 of `a-z`, `0-9`, `.`, `_` and `-`. */
  readonly kind: string;
  readonly payload: WebhookPayload;
}

/** The kinds that a set of schemas configures: `payment.succeeded` is always there. */
export type EventKind<Events extends EventSchemas> = (keyof Events & string) | 'payment.succeeded';

/** The payload of a kind: what its schema makes of it, or the parsed body. */
export type PayloadOf<Events extends EventSchemas, Kind extends string> = Kind extends keyof Events
  ? SchemaOutput<NonNullable<Events[Kind]>>
  : WebhookPayload;

/** The events of the configured kinds, as a union that narrows on `type`. */
export type ConfiguredEvent<Events extends EventSchemas> = {
  [Kind in EventKind<Events>]: KnownEvent<Kind, PayloadOf<Events, Kind>>;
}[EventKind<Events>];

/** Any event that verification can give. */
export type WebhookEvent<Events extends EventSchemas = NoEvents> = ConfiguredEvent<Events> | UnrecognizedEvent;

/** How a signed `status` contradicts the event header: the code that the delivery is refused with. */
export type Contradiction = 'event_contradicted' | 'payment_pending';

// ignoreBOM keeps a byte order mark in the text, where JSON.parse refuses it; the default would drop it unseen.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Checks `events` at set-up and gives the schema of each configured kind. */
export function readEvents(events: EventSchemas = {}): ReadonlyMap<string, StandardSchema | undefined> {
  const isMap = Object.prototype.toString.call(events) === '[object Object]';
  check(isMap, 'events', 'must be an object from event kind to schema');
  const kinds = new Map<string, StandardSchema | undefined>([['payment.succeeded', undefined]]);
  for (const [kind, schema] of Object.entries(events)) {
    const option = `events['${kind}']`;
    check(isKind(kind) && kind !== 'unrecognized', option, 'is not an event kind: 1 to 128 of a-z, 0-9, `.`, `_` and `-`');
    const validate: unknown = (schema as Partial<StandardSchema> | undefined)?.['~standard']?.validate;
    check(typeof validate === 'function', option, 'must be a Standard Schema, as of zod, valibot or arktype');
    kinds.set(kind, schema);
  }
  return kinds;
}

/** The kind of the event header. The signature does not cover it, so it may lead to less, never to more. */
export function readKind(header: unknown): string {
  if (isKind(header)) return header;
  throw fault('invalid_event', 'the event header is absent, repeated or not an event kind');
}

function isKind(value: unknown): value is string {
  return typeof value === 'string' && /^[a-z0-9._-]{1,128}$/.test(value);
}

/**
 * Decodes, parses and checks the body, strictly in that order.
 *
 * @throws WebhookError `invalid_payload`. Its message never quotes the body, as a SyntaxError's would.
 */
export function parsePayload(rawBody: Uint8Array): WebhookPayload {
  let payload: Record<string, unknown> | null;
  try {
    const text = decoder.decode(rawBody);
    payload = JSON.parse(text, mayNamePrototype(text) ? leaveOutPrototypes : undefined) as typeof payload;
  } catch {
    throw invalid('is not UTF-8, or not JSON');
  }
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) throw invalid('is not a JSON object');
  const { reference } = payload;
  if (typeof reference !== 'string' || reference.trim() === '' || reference.includes('\0') || !isWellFormed(reference)) {
    throw invalid('has no `reference` that is a non-blank string without NUL and lone surrogates');
  }
  return Object.freeze(payload) as WebhookPayload;
}

/**
 * Whether a key can be `__proto__` or have one below it named `prototype`: both spell "proto", unless one of their characters
 * (all of them in U+005F to U+007A) is written as an escape.
 */
function mayNamePrototype(text: string): boolean {
  return text.includes('proto') || (text.includes('\\u00') && /\\u00[5-7]/.test(text));
}

/** Leaves out the keys by which a later merge or `Object.assign` would change a prototype. */
function leaveOutPrototypes(key: string, value: unknown): unknown {
  const isPrototype = key === '__proto__' || (key === 'constructor' && Object.hasOwn(Object(value) as object, 'prototype'));
  return isPrototype ? undefined : value;
}

/** Compares the signed `status` with the unsigned header that says success. */
export function contradictionOf(kind: string, { status }: WebhookPayload): Contradiction | undefined {
  if (kind !== 'payment.succeeded') return undefined;
  if (status === 'pending') return 'payment_pending';
  return status === 'failed' || status === 'cancelled' ? 'event_contradicted' : undefined;
}

/** What the kind's schema makes of the payload. @throws WebhookError `invalid_payload` when the schema refuses it. */
export async function validate(schema: StandardSchema, payload: WebhookPayload): Promise<unknown> {
  const result = await schema['~standard'].validate(payload);
  // The issues can quote the body, so they stay out of the message.
  if (result.issues !== undefined) throw invalid('was refused by the schema of its kind');
  return result.value;
}

function invalid(problem: string): WebhookError {
  return fault('invalid_payload', `the signed body ${problem}`);
}
