/** The proof in its order: headers, raw body and signature, then event header, JSON and schema. */
import { findMatch, isSynchronous } from '#hmac';
import type { Delivery } from './delivery.js';
import { fault, WebhookError } from './errors.js';
import { parseKind, parsePayload, refuseContradiction, validate } from './event.js';
import type { WebhookEvent } from './event.js';
import type { Settings } from './options.js';
import type { Proven } from './reporting.js';
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

/** The parts of a delivery that the proof needs. */
export interface Unproven {
  readonly rawBody: Uint8Array;
  readonly signature: string;
  /** The event header, which is not signed. */
  readonly kindHeader: unknown;
  /** The argument of a `secret` function. */
  readonly host: unknown;
  /** Gets the facts as soon as they are known. */
  readonly report: { proven: Proven | undefined };
}

/**
 * Proves that the service sent these bytes, and makes their event. Returns without a promise if
 * nothing waits, with a fixed secret, Node's HMAC and no schema.
 *
 * @throws WebhookError `invalid_signature`, `secret_unavailable`, `invalid_event`,
 *   `invalid_payload`, `event_contradicted`, `payment_pending` or `handler_timeout`
 */
export function proveEvent(
  settings: Settings,
  unproven: Unproven,
): WebhookEvent | Promise<WebhookEvent> {
  const keys = settings.keyring(unproven.host);
  if (!isSynchronous || keys instanceof Promise) return proveLater(settings, unproven, keys);
  const match = findMatch(keys.keys, unproven.rawBody, unproven.signature) as number;
  return toEvent(settings, unproven, keys, match);
}

async function proveLater(
  settings: Settings,
  { rawBody, ...rest }: Unproven,
  waiting: Keys | Promise<Keys>,
): Promise<WebhookEvent> {
  // Other code must not change the bytes between the signature and the parser.
  const unproven = { ...rest, rawBody: new Uint8Array(rawBody) };
  const keys = await waiting;
  const match = await findMatch(keys.keys, unproven.rawBody, unproven.signature);
  return toEvent(settings, unproven, keys, match);
}

/** @param secretIndex the index of the matching key, or -1 */
function toEvent(
  { kinds, explain }: Settings,
  { rawBody, signature, kindHeader, report }: Unproven,
  { secret, tenant }: Keys,
  secretIndex: number,
): WebhookEvent | Promise<WebhookEvent> {
  if (secretIndex < 0) {
    explain?.({ rawBody, signature, secret });
    throw mismatch();
  }
  report.proven = { secretIndex };
  const isConfigured = typeof kindHeader === 'string' && kinds.has(kindHeader);
  const kind = isConfigured ? kindHeader : parseKind(kindHeader);
  const type = isConfigured ? kind : 'unrecognized';
  const payload = parsePayload(rawBody);
  const { reference } = payload;
  report.proven = { secretIndex, kind, type, reference };
  refuseContradiction(kind, payload);
  if (type === 'unrecognized') {
    return { type, kind, reference, payload, rawBody, secretIndex, tenant };
  }
  // The map of schemas pairs each kind with its payload, and the types say the same.
  const event = { type, reference, payload, rawBody, secretIndex, tenant } as WebhookEvent;
  const schema = kinds.get(kind);
  if (schema === undefined) return event;
  return validate(schema, kind, payload).then(
    (output) => ({ ...event, payload: output }) as WebhookEvent,
  );
}
