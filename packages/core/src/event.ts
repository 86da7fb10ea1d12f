/** From proven bytes to a typed event. Nothing in this file runs before the signature matched. */
import { check, fault, type WebhookError } from './errors.js';
import type { EventSchemas, NoEvents, SchemaOutput, StandardSchema } from './schema.js';
import { toText } from './bytes.js';
import { faultOfReference } from './reference.js';
import { withinBounds } from './time-limit.js';

/** The parsed body. Other fields are `unknown`: never credit an amount from it (docs/service.md 6). */
export type WebhookPayload = { readonly reference: string } & Readonly<Record<string, unknown>>;

/** The fields of every event. */
export interface WebhookEventBase {
  /** The merchant's own reference of the payment, as it was sent: an opaque string. */
  readonly reference: string;
  /** The bytes that were signed. */
  readonly rawBody: Uint8Array;
  /** Which of the configured secrets matched; above 0, a sender still uses an old one. */
  readonly secretIndex: number;
  /** The merchant that the `secret` function named. Absent if there is one merchant. */
  readonly tenant?: string | undefined;
}

/** An event of a configured kind. `type` comes from the event header, which the signature does not cover. */
export interface KnownEvent<
  Type extends string = string,
  Payload = WebhookPayload,
> extends WebhookEventBase {
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

/** The payload of a kind: the output of its schema, or the parsed body. */
export type PayloadOf<Events extends EventSchemas, Kind extends string> = Kind extends keyof Events
  ? SchemaOutput<NonNullable<Events[Kind]>>
  : WebhookPayload;

/** The events of the configured kinds, as a union that narrows on `type`. */
export type ConfiguredEvent<Events extends EventSchemas> = {
  [Kind in EventKind<Events>]: KnownEvent<Kind, PayloadOf<Events, Kind>>;
}[EventKind<Events>];

/** Any event that verification can give. */
export type WebhookEvent<Events extends EventSchemas = NoEvents> =
  ConfiguredEvent<Events> | UnrecognizedEvent;

/** Checks `events` at set-up and gives the schema of each configured kind. */
export function validateEvents(
  events: EventSchemas = {},
): ReadonlyMap<string, StandardSchema | undefined> {
  const isMap = Object.prototype.toString.call(events) === '[object Object]';
  check(isMap, 'events', 'must be an object from event kind to schema');
  const kinds = new Map<string, StandardSchema | undefined>([['payment.succeeded', undefined]]);
  for (const [kind, schema] of Object.entries(events)) {
    const option = `events['${kind}']`;
    check(
      isEventKind(kind) && kind !== 'unrecognized',
      option,
      'is not an event kind: 1 to 128 of a-z, 0-9, `.`, `_` and `-`',
    );
    const validate: unknown = (schema as Partial<StandardSchema> | undefined)?.['~standard']
      ?.validate;
    check(
      typeof validate === 'function',
      option,
      'must be a Standard Schema, as of zod, valibot or arktype',
    );
    kinds.set(kind, schema);
  }
  return kinds;
}

/** The kind in the event header. The signature does not cover it: it may cause less, never more. */
export function parseKind(header: unknown): string {
  if (isEventKind(header)) return header;
  throw fault('invalid_event', 'the event header is absent, repeated or not an event kind');
}

/** Whether the value is the name of an event kind: 1 to 128 of `a-z`, `0-9`, `.`, `_` and `-`. */
export function isEventKind(value: unknown): value is string {
  return typeof value === 'string' && /^[a-z0-9._-]{1,128}$/.test(value);
}

/**
 * Decodes, parses and checks the body, strictly in that order.
 *
 * @throws WebhookError `invalid_payload`. Its message never quotes the body, as a SyntaxError's would.
 */
export function parsePayload(rawBody: Uint8Array): WebhookPayload {
  const text = toText(rawBody);
  if (text === undefined) throw invalid('is not UTF-8');
  const payload = parseJson(text);
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
    throw invalid('is not a JSON object');
  const fault = faultOfReference(payload['reference']);
  if (fault !== undefined) throw invalid(`needs a \`reference\`: it ${fault}`);
  return Object.freeze(payload) as WebhookPayload;
}

function parseJson(text: string): Record<string, unknown> | null {
  try {
    const reviver = mayNamePrototype(text) ? leaveOutPrototypes : undefined;
    return JSON.parse(text, reviver) as Record<string, unknown> | null;
  } catch {
    throw invalid('is not JSON');
  }
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
  const isPrototype =
    key === '__proto__' ||
    (key === 'constructor' && Object.hasOwn(Object(value) as object, 'prototype'));
  return isPrototype ? undefined : value;
}

/**
 * Compares the signed `status` with the unsigned header, which says success.
 *
 * @throws WebhookError `payment_pending`, `event_contradicted`
 */
export function refuseContradiction(kind: string, { status }: WebhookPayload): void {
  if (kind !== 'payment.succeeded') return;
  const problem = 'the event header says success, and the `status` in the signed body does not';
  if (status === 'pending') throw fault('payment_pending', problem);
  if (status === 'failed' || status === 'cancelled') throw fault('event_contradicted', problem);
}

// Room for a schema that asks a database. A schema that hangs must not hold the request.
const SCHEMA_TIMEOUT = 5_000;

/** Returns the output of the kind's schema. @throws WebhookError `invalid_payload`, `handler_timeout` */
export async function validate(
  schema: StandardSchema,
  kind: string,
  payload: WebhookPayload,
): Promise<unknown> {
  const validating = (async () => schema['~standard'].validate(payload))();
  const result = await withinBounds(validating, {
    milliseconds: SCHEMA_TIMEOUT,
    reason: () => fault('handler_timeout', `the schema of ${kind} took over ${SCHEMA_TIMEOUT} ms`),
  });
  // The issues can quote the body, so the message leaves them out.
  if (result.issues !== undefined) throw invalid('does not match the schema of its kind');
  return result.value;
}

function invalid(problem: string): WebhookError {
  return fault('invalid_payload', `the signed body ${problem}`);
}
