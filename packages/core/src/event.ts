/** Turns proven bytes into a typed event. Nothing here runs before the signature matched. */
import { isWellFormed, toText } from './bytes.js';
import { check, fault, type WebhookError } from './errors.js';
import type { EventSchemas, NoEvents, SchemaOutput, StandardSchema } from './schema.js';
import { withinBounds } from './time-limit.js';

/** The parsed body. All fields but `reference` are `unknown`. Never credit an amount from them. */
export type WebhookPayload = { readonly reference: string } & Readonly<Record<string, unknown>>;

/** Bytes that the service sent, and the merchant whose secret matched. */
export type Proven = {
  /** The signed bytes. */
  readonly rawBody: Uint8Array;
  /** Index of the matching secret. During a rotation, an index above 0 means an old secret. */
  readonly secretIndex: number;
  /** The merchant, as returned by the `secret` function. `null` if there is only one merchant. */
  readonly tenant: string | null;
};

export type WebhookEventBase = Proven & {
  /** The merchant's own payment reference, an opaque string. */
  readonly reference: string;
};

/** An event of a configured kind. `type` comes from the unsigned event header. */
export interface KnownEvent<
  Type extends string = string,
  Payload = WebhookPayload,
> extends WebhookEventBase {
  readonly type: Type;
  /** The output of the kind's schema, or the parsed body. */
  readonly payload: Payload;
}

/** A signed event of a kind that is not configured. */
export type UnrecognizedEvent = WebhookEventBase & {
  readonly type: 'unrecognized';
  /** The kind in the event header: 1 to 128 characters from `a-z`, `0-9`, `.`, `_` and `-`. */
  readonly kind: string;
  readonly payload: WebhookPayload;
};

/** Names of the configured kinds, always including `payment.succeeded`. */
export type EventKind<Events extends EventSchemas> = (keyof Events & string) | 'payment.succeeded';

/** The payload of a kind: the output of its schema, or the parsed body. */
export type PayloadOf<Events extends EventSchemas, Kind extends string> = Kind extends keyof Events
  ? SchemaOutput<NonNullable<Events[Kind]>>
  : WebhookPayload;

/** The events of the configured kinds, as a union that narrows on `type`. */
export type ConfiguredEvent<Events extends EventSchemas> = {
  [Kind in EventKind<Events>]: KnownEvent<Kind, PayloadOf<Events, Kind>>;
}[EventKind<Events>];

/** Any event that a verifier can return. */
export type WebhookEvent<Events extends EventSchemas = NoEvents> =
  | ConfiguredEvent<Events>
  | UnrecognizedEvent;

/** Checks `events` at startup. Returns the schema of each configured kind. */
export function createKinds(
  events: EventSchemas = {},
): ReadonlyMap<string, StandardSchema | undefined> {
  const isMap = Object.prototype.toString.call(events) === '[object Object]';
  check(isMap, 'events', 'must be an object from event kind to schema');
  const kinds = new Map<string, StandardSchema | undefined>([['payment.succeeded', undefined]]);
  for (const [kind, schema] of Object.entries(events)) {
    const option = `events['${kind}']`;
    const isKind = isEventKind(kind) && kind !== 'unrecognized';
    check(isKind, option, 'is not an event kind: 1 to 128 of a-z, 0-9, `.`, `_` and `-`');
    const { validate } = (Object(schema) as Partial<StandardSchema>)['~standard'] ?? {};
    const isSchema = typeof validate === 'function';
    check(isSchema, option, 'must be a Standard Schema, such as one from zod, valibot or arktype');
    kinds.set(kind, schema);
  }
  return kinds;
}

/** The header is not signed, so a kind may cause less than `payment.succeeded`, never more. */
export function parseKind(header: unknown): string {
  if (isEventKind(header)) return header;
  throw fault('invalid_event', 'the event header is absent, repeated or not an event kind');
}

export function isEventKind(value: unknown): value is string {
  return typeof value === 'string' && /^[a-z0-9._-]{1,128}$/.test(value);
}

/**
 * Decodes, parses and checks the body, strictly in that order.
 *
 * @throws WebhookError `invalid_payload`. The message never quotes the body, unlike a SyntaxError.
 */
export function parsePayload(rawBody: Uint8Array): WebhookPayload {
  const text = toText(rawBody);
  if (text === undefined) throw invalid('is not UTF-8');
  const payload = parseJson(text);
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
    throw invalid('is not a JSON object');
  const own = Object.hasOwn(payload, 'reference') ? payload['reference'] : undefined;
  const fault = faultOfReference(own);
  if (fault !== undefined) throw invalid(`is invalid: \`reference\` ${fault}`);
  return Object.freeze(payload) as WebhookPayload;
}

/**
 * Returns the fault of a merchant's reference, or undefined. The reference is an opaque string that
 * must fit into SQL texts and URLs.
 */
export function faultOfReference(reference: unknown): string | undefined {
  if (typeof reference !== 'string') return 'must be a string';
  if (reference.trim() === '') return 'must not be blank';
  if (reference.includes('\0')) return 'must not contain NUL';
  // UTF-8 writes every unpaired surrogate as the same bytes, so two references would become one.
  return isWellFormed(reference) ? undefined : 'must not contain unpaired surrogates';
}

function parseJson(text: string): Record<string, unknown> | null {
  try {
    // `__proto__` and `prototype` contain "proto", unless the text escapes characters. The reviver
    // alone takes 10 % of a request on node:http.
    const mayNamePrototype = text.includes('proto') || text.includes('\\u00');
    const reviver = mayNamePrototype ? leaveOutPrototypes : undefined;
    return JSON.parse(text, reviver) as Record<string, unknown> | null;
  } catch {
    throw invalid('is not JSON');
  }
}

/** Drops the keys with which a later merge or `Object.assign` would change a prototype. */
function leaveOutPrototypes(key: string, value: unknown): unknown {
  if (key === '__proto__') return undefined;
  if (key !== 'constructor') return value;
  return Object.hasOwn(Object(value) as object, 'prototype') ? undefined : value;
}

/**
 * Compares the signed `status` with the unsigned header, which claims success.
 *
 * @throws WebhookError `payment_pending` or `event_contradicted`
 */
export function refuseContradiction(kind: string, payload: WebhookPayload): void {
  if (kind !== 'payment.succeeded' || !Object.hasOwn(payload, 'status')) return;
  const { status } = payload;
  const problem = 'the event header says success, and the `status` in the signed body does not';
  if (status === 'pending') throw fault('payment_pending', problem);
  if (status === 'failed' || status === 'cancelled') throw fault('event_contradicted', problem);
}

// Leaves time for a schema that queries a database. A hanging schema must not hold the request.
const SCHEMA_TIMEOUT = 5_000;

/** @throws WebhookError `invalid_payload` or `handler_timeout` */
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
  // Issues can quote the body, so the message omits them.
  if (result.issues !== undefined) throw invalid('does not match the schema of its kind');
  return result.value;
}

function invalid(problem: string): WebhookError {
  return fault('invalid_payload', `the signed body ${problem}`);
}
