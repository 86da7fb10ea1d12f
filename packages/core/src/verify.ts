/**
 * The proof in its order: headers, raw body and signature first, then event header, UTF-8, JSON and
 * schema.
 */
import { findMatch } from '#hmac';
import type { Delivery } from './delivery.js';
import { fault, WebhookError } from './errors.js';
import {
  parseKind,
  parsePayload,
  refuseContradiction,
  validate,
  type WebhookEvent,
} from './event.js';
import type { Settings } from './options.js';
import { mismatch, requireBytes, requireSignature } from './signature.js';
import type { Explain } from './diagnosis/explain.js';
import type { DeliveryReport, Proven } from './reporting.js';

/** The settings of a verifier, and of the receiver around it. */
export interface Proof {
  readonly settings: Settings;
  /** True if the handler judges a contradicting `status`, as `payments` does. */
  readonly allowsContradiction: boolean;
  /** Logs why a signature does not match. Absent in production and in a bare verifier. */
  readonly explain?: Explain | undefined;
}

type Progress = Pick<DeliveryReport, 'bodyBytes' | 'proven'>;

/**
 * Verifies a delivery and returns its event. Rejects every fault of the headers before reading the
 * first byte of the body.
 *
 * @param progress gets the facts as they become known
 * @throws WebhookError
 */
export async function verifyDelivery(
  proof: Proof,
  delivery: Delivery,
  host: unknown,
  progress: Progress,
): Promise<WebhookEvent> {
  const { settings, explain } = proof;
  const { bodyLimit, bodyTimeout, headers } = settings;
  const { method = 'POST' } = delivery;
  if (method !== 'POST') throw fault('method_not_allowed', 'expected POST');
  const declared = Number(delivery.header('content-length') ?? 0);
  if (!(declared <= bodyLimit)) throw new WebhookError('body_too_large');
  const sent = delivery.header(headers.signature);
  const signature = requireShape(sent, explain);
  if (!/^(\s*|identity)$/i.test(delivery.header('content-encoding') ?? '')) {
    const problem = 'the body is compressed, so its bytes differ from the signed bytes';
    throw fault('unsupported_encoding', problem);
  }

  const rawBody = requireBytes(await delivery.body({ bodyLimit, bodyTimeout }));
  progress.bodyBytes = rawBody.length;
  if (rawBody.length > bodyLimit) throw new WebhookError('body_too_large');
  return verifyBody(proof, rawBody, signature, delivery.header(headers.event), host, progress);
}

/**
 * Verifies raw bytes, then makes the event.
 *
 * @throws WebhookError
 */
export async function verifyBody(
  proof: Proof,
  received: Uint8Array,
  signature: string,
  kindHeader: unknown,
  host: unknown,
  progress?: Progress,
): Promise<WebhookEvent> {
  const { settings, explain } = proof;
  // Copies the bytes, so that no other code can change them between the signature and the parser.
  const rawBody = new Uint8Array(received);
  const { keys, tenant, secret } = await settings.keyring(host);
  const secretIndex = await findMatch(keys, rawBody, signature);
  if (secretIndex < 0) {
    explain?.({ rawBody, signature, secret });
    throw mismatch();
  }

  // The signature matched, so the sender is known from here on.
  const proven: Proven = { secretIndex };
  if (progress !== undefined) progress.proven = proven;
  const kind = parseKind(kindHeader);
  const type = settings.kinds.has(kind) ? kind : 'unrecognized';
  const payload = parsePayload(rawBody);
  Object.assign(proven, { kind, type, reference: payload.reference });
  if (!proof.allowsContradiction) refuseContradiction(kind, payload);
  const { reference } = payload;
  // Always sets `tenant`, so that a polluted Object.prototype cannot.
  const facts = { reference, rawBody, secretIndex, tenant };
  if (type === 'unrecognized') return { type, kind, payload, ...facts };
  const schema = settings.kinds.get(kind);
  const output = schema === undefined ? payload : await validate(schema, kind, payload);
  // The map of schemas pairs each kind with its payload, and the types say the same.
  return { type, payload: output, ...facts } as WebhookEvent;
}

function requireShape(sent: unknown, explain: Explain | undefined): string {
  try {
    return requireSignature(sent);
  } catch (error) {
    explain?.({ signature: sent });
    throw error;
  }
}
