/**
 * The proof in its order: headers, signature over the raw body, then event header, JSON and schema.
 * Each step returns the facts that the next step relies on.
 */
import { findMatch, isSynchronous } from '#hmac';
import type { Delivery } from './delivery.js';
import { fault, WebhookError } from './errors.js';
import { parseKind, parsePayload, refuseContradiction, validate } from './event.js';
import type { Proven, WebhookEvent } from './event.js';
import type { Eventual } from './eventual.js';
import type { Settings } from './options.js';
import type { Keys } from './secret.js';
import { mismatch, requireSignature } from './signature.js';

/**
 * Checks the headers and returns the signature, before the first byte of the body is read.
 *
 * @throws WebhookError
 */
export function checkHeaders({ limits, headers, explain }: Settings, delivery: Delivery): string {
  const { method = 'POST' } = delivery;
  if (method !== 'POST') throw fault('method_not_allowed', 'expected POST');
  const declared = Number(delivery.header('content-length') ?? 0);
  if (!(declared <= limits.bodyLimit)) throw new WebhookError('body_too_large');
  const signature = requireSignature(delivery.header(headers.signature), explain);
  const encoding = delivery.header('content-encoding');
  if (encoding !== undefined && !/^(\s*|identity)$/i.test(encoding)) {
    const problem = 'the body is compressed, so its bytes differ from the signed bytes';
    throw fault('unsupported_encoding', problem);
  }
  return signature;
}

/** Bytes with a signature, and nothing proven yet. */
export interface Unproven {
  readonly rawBody: Uint8Array;
  readonly signature: string;
  /** The argument of a `secret` function. */
  readonly host: unknown;
}

/** @throws WebhookError `invalid_signature` or `secret_unavailable` */
export function proveSignature(settings: Settings, unproven: Unproven): Eventual<Proven> {
  const keys = settings.keyring(unproven.host);
  if (!isSynchronous || keys instanceof Promise) return proveLater(settings, unproven, keys);
  const match = findMatch(keys.keys, unproven.rawBody, unproven.signature) as number;
  return requireMatch(settings, unproven, keys, match);
}

async function proveLater(
  settings: Settings,
  { rawBody, ...rest }: Unproven,
  waiting: Eventual<Keys>,
): Promise<Proven> {
  // Other code must not change the bytes between the signature and the parser.
  const unproven = { ...rest, rawBody: new Uint8Array(rawBody) };
  const keys = await waiting;
  const match = await findMatch(keys.keys, unproven.rawBody, unproven.signature);
  return requireMatch(settings, unproven, keys, match);
}

/** @param secretIndex the index of the matching key, or -1 */
function requireMatch(
  { explain }: Settings,
  { rawBody, signature }: Unproven,
  { secret, tenant }: Keys,
  secretIndex: number,
): Proven {
  if (secretIndex >= 0) return { rawBody, secretIndex, tenant };
  explain?.({ rawBody, signature, secret });
  throw mismatch();
}

/**
 * Parses proven bytes. The event header is not signed.
 *
 * @throws WebhookError `invalid_event` or `invalid_payload`
 */
export function parseEvent(
  { kinds }: Settings,
  { rawBody, secretIndex, tenant }: Proven,
  kindHeader: unknown,
): WebhookEvent {
  const isConfigured = typeof kindHeader === 'string' && kinds.has(kindHeader);
  const kind = isConfigured ? kindHeader : parseKind(kindHeader);
  const payload = parsePayload(rawBody);
  const { reference } = payload;
  return isConfigured
    ? { type: kind as 'payment.succeeded', reference, payload, rawBody, secretIndex, tenant }
    : { type: 'unrecognized', kind, reference, payload, rawBody, secretIndex, tenant };
}

/**
 * Holds a parsed event against its signed status and against the schema of its kind, whose output
 * becomes the payload.
 *
 * @throws WebhookError `event_contradicted`, `payment_pending`, `invalid_payload` or
 *   `handler_timeout`
 */
export async function requireValid(
  { kinds }: Settings,
  event: WebhookEvent,
): Promise<WebhookEvent> {
  if (event.type === 'unrecognized') return event;
  refuseContradiction(event.type, event.payload);
  const schema = kinds.get(event.type);
  if (schema === undefined) return event;
  // The map of schemas pairs each kind with its payload, and the types say the same.
  const payload = await validate(schema, event.type, event.payload);
  return { ...event, payload } as WebhookEvent;
}
