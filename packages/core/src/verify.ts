/** The proof in its order: headers, raw body and signature, then event header, JSON and schema. */
import { findMatch, isSynchronous } from '#hmac';
import type { Delivery } from './delivery.js';
import { fault, WebhookError } from './errors.js';
import { parseKind, parsePayload, refuseContradiction, validate } from './event.js';
import type { WebhookEvent, WebhookPayload } from './event.js';
import type { Settings } from './options.js';
import type { Keys } from './secret.js';
import { mismatch, requireBytes, requireSignature } from './signature.js';

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
  const sent = delivery.header(headers.signature);
  try {
    requireSignature(sent);
  } catch (error) {
    explain?.({ signature: sent });
    throw error;
  }
  const encoding = delivery.header('content-encoding');
  if (encoding !== undefined && !/^(\s*|identity)$/i.test(encoding)) {
    const problem = 'the body is compressed, so its bytes differ from the signed bytes';
    throw fault('unsupported_encoding', problem);
  }
  return sent!;
}

/** @throws WebhookError `body_consumed` or `body_too_large` */
export function requireRawBody({ limits }: Settings, body: unknown): Uint8Array {
  const rawBody = requireBytes(body);
  if (rawBody.length > limits.bodyLimit) throw new WebhookError('body_too_large');
  return rawBody;
}

export interface Proof {
  readonly rawBody: Uint8Array;
  readonly secretIndex: number;
  readonly tenant: string | null;
}

/**
 * Proves that the service sent these bytes. Returns without a promise if nothing waits, with a
 * fixed secret and Node's HMAC. Otherwise copies the bytes, so that no other code can change them
 * between the signature and the parser.
 *
 * @throws WebhookError `invalid_signature` or `secret_unavailable`
 */
export function proveBody(
  settings: Settings,
  rawBody: Uint8Array,
  signature: string,
  host: unknown,
): Proof | Promise<Proof> {
  const keys = settings.keyring(host);
  if (isSynchronous && !(keys instanceof Promise)) {
    const match = findMatch(keys.keys, rawBody, signature) as number;
    return requireMatch(settings, rawBody, signature, keys, match);
  }
  return proveLater(settings, new Uint8Array(rawBody), signature, keys);
}

async function proveLater(
  settings: Settings,
  rawBody: Uint8Array,
  signature: string,
  waiting: Keys | Promise<Keys>,
): Promise<Proof> {
  const keys = await waiting;
  const match = await findMatch(keys.keys, rawBody, signature);
  return requireMatch(settings, rawBody, signature, keys, match);
}

/** @param match the index of the matching key, or -1 */
function requireMatch(
  settings: Settings,
  rawBody: Uint8Array,
  signature: string,
  keys: Keys,
  match: number,
): Proof {
  if (match < 0) {
    settings.explain?.({ rawBody, signature, secret: keys.secret });
    throw mismatch();
  }
  return { rawBody, secretIndex: match, tenant: keys.tenant };
}

export interface Parsed {
  readonly kind: string;
  /** The configured kind, or `unrecognized`. */
  readonly type: string;
  readonly payload: WebhookPayload;
}

/** @throws WebhookError `invalid_event` or `invalid_payload` */
export function parseSigned({ kinds }: Settings, rawBody: Uint8Array, kindHeader: unknown): Parsed {
  const isConfigured = typeof kindHeader === 'string' && kinds.has(kindHeader);
  const kind = isConfigured ? kindHeader : parseKind(kindHeader);
  const payload = parsePayload(rawBody);
  return { kind, type: isConfigured ? kind : 'unrecognized', payload };
}

/**
 * Makes the event. Returns without a promise if the kind has no schema.
 *
 * @throws WebhookError `event_contradicted`, `payment_pending`, `invalid_payload` or
 *   `handler_timeout`
 */
export function toEvent(
  { kinds }: Settings,
  { rawBody, secretIndex, tenant }: Proof,
  { kind, type, payload }: Parsed,
): WebhookEvent | Promise<WebhookEvent> {
  refuseContradiction(kind, payload);
  const { reference } = payload;
  if (type === 'unrecognized') {
    return { type, kind, reference, payload, rawBody, secretIndex, tenant };
  }
  const schema = kinds.get(kind);
  // The map of schemas pairs each kind with its payload, and the types say the same.
  const eventWith = (output: unknown): WebhookEvent =>
    ({ type, reference, payload: output, rawBody, secretIndex, tenant }) as WebhookEvent;
  if (schema === undefined) return eventWith(payload);
  return validate(schema, kind, payload).then(eventWith);
}
