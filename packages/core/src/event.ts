/** From proven bytes to a typed event. Nothing in this file runs before the signature was found to be right. */
import { ConfigurationError, WebhookError } from './errors.js';
import { isPromise } from './deadline.js';
import type { EventSchemas, NoEvents, SchemaOutput, StandardSchema } from './schema.js';
import { isWellFormed } from './secret.js';

/** The parsed body. Whatever else it says is `unknown`: an amount in it must not be credited (SERVICE.md section 6, rule 4). */
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
  ? SchemaOutput<Events[Kind]>
  : WebhookPayload;

/** The events of the configured kinds, as a union that narrows on `type`. */
export type ConfiguredEvent<Events extends EventSchemas> = {
  [Kind in EventKind<Events>]: KnownEvent<Kind, PayloadOf<Events, Kind>>;
}[EventKind<Events>];

/** Any event that verification can give. */
export type WebhookEvent<Events extends EventSchemas = NoEvents> = ConfiguredEvent<Events> | UnrecognizedEvent;

/** What a signed body says of the payment, against the header; the code that it would be refused by. */
export type Contradiction = 'event_contradicted' | 'payment_pending';

const KIND = /^[a-z0-9._-]{1,128}$/;

// ignoreBOM keeps a byte order mark in the text, where JSON.parse refuses it; the default would drop it unseen.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Checks `events` at set-up and gives the schema of each configured kind. */
export function readEvents(events: EventSchemas = {}): ReadonlyMap<string, StandardSchema | undefined> {
  const kinds = new Map<string, StandardSchema | undefined>([['payment.succeeded', undefined]]);
  for (const [kind, schema] of Object.entries(events)) {
    if (!KIND.test(kind) || kind === 'unrecognized') {
      throw new ConfigurationError('events', `has a key that no event kind can be: ${JSON.stringify(kind)}`);
    }
    if (typeof (schema as Partial<StandardSchema> | undefined)?.['~standard']?.validate !== 'function') {
      throw new ConfigurationError(`events['${kind}']`, 'must be a Standard Schema (zod, valibot, arktype …)');
    }
    kinds.set(kind, schema);
  }
  return kinds;
}

/** The kind of the event header. It may make us do less, never more: nothing signed stands behind it. */
export function readKind(header: unknown): string {
  if (typeof header !== 'string' || !KIND.test(header)) {
    throw new WebhookError('invalid_event', { message: 'the event header is absent, repeated or not an event kind' });
  }
  return header;
}

/**
 * Decodes, parses and checks the body, strictly in that order.
 *
 * @throws WebhookError `invalid_payload`. Its message never quotes the body, as a SyntaxError's would.
 */
export function parsePayload(rawBody: Uint8Array): WebhookPayload {
  const payload: unknown = parseJson(decode(rawBody));
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) throw invalid('is not a JSON object');
  if (!isReference((payload as Record<string, unknown>)['reference'])) {
    throw invalid('has no `reference` that is a non-blank string without NUL and lone surrogates');
  }
  return Object.freeze(payload) as WebhookPayload;
}

/** Holds the signed `status` of a success against the unsigned header that called it one. */
export function contradictionOf(kind: string, payload: WebhookPayload): Contradiction | undefined {
  if (kind !== 'payment.succeeded') return undefined;
  const status = payload['status'];
  if (status === 'failed' || status === 'cancelled') return 'event_contradicted';
  return status === 'pending' ? 'payment_pending' : undefined;
}

/** What the kind's schema makes of the payload. @throws WebhookError `invalid_payload` when the schema refuses it. */
export function validate(schema: StandardSchema, payload: WebhookPayload): unknown {
  const result = schema['~standard'].validate(payload);
  return isPromise(result) ? result.then(outputOf) : outputOf(result);
}

type SchemaResult = Awaited<ReturnType<StandardSchema['~standard']['validate']>>;

function outputOf(result: SchemaResult): unknown {
  // The issues can quote the body, so they stay out of the message.
  if (result.issues !== undefined) throw invalid('was refused by the schema of its kind');
  return result.value;
}

function decode(rawBody: Uint8Array): string {
  try {
    return decoder.decode(rawBody);
  } catch {
    throw invalid('is not UTF-8');
  }
}

function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid('is not JSON');
  }
  // JSON can spell either name with escapes; without one of these there is nothing to look for.
  if (/__proto__|constructor|\\u/.test(text)) disarm(value);
  return value;
}

/**
 * Removes the keys by which a later merge or `Object.assign` would change a prototype. With a stack of its own, since a
 * body may be nested deeper than calls can be.
 */
function disarm(root: unknown): void {
  const stack = [root];
  while (stack.length > 0) {
    const value = stack.pop();
    if (typeof value !== 'object' || value === null) continue;
    const record = value as Record<string, unknown>;
    if (Object.hasOwn(record, '__proto__')) delete record['__proto__'];
    if (hasOwnPrototype(record)) delete record['constructor'];
    for (const item of Object.values(record)) stack.push(item);
  }
}

function hasOwnPrototype(record: Record<string, unknown>): boolean {
  const constructor = Object.hasOwn(record, 'constructor') ? record['constructor'] : undefined;
  return typeof constructor === 'object' && constructor !== null && Object.hasOwn(constructor, 'prototype');
}

function isReference(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '' && !value.includes('\0') && isWellFormed(value);
}

function invalid(problem: string): WebhookError {
  return new WebhookError('invalid_payload', { message: `the signed body ${problem}` });
}
