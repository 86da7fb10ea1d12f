/** Sends kept deliveries to the merchant's webhook again, one at a time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { signedDelivery } from '@paylink/testing';
import type { Inbox, KeptDelivery } from '@paylink/payments';
import { explainNoAnswer, post, type Answer } from '../post.js';
import { codeOf } from '../reply.js';

export interface ReplayOptions {
  readonly inbox: Inbox;
  readonly url: URL;
  readonly secret: string;
  /** The most deliveries per second. */
  readonly rate: number;
  /** Milliseconds to wait for each answer. */
  readonly timeout: number;
}

/** `handled`: another delivery of the key has succeeded meanwhile, so the command sent nothing. */
export type Replayed = 'handled' | Answer | { readonly error: string; readonly durationMs: number };

/** Unanswered deliveries in a row. A restarting server breaks only a few connections. */
const MOST_UNANSWERED = 3;

/** Yields each delivery with its result. Stops early if every further delivery would fail alike. */
export async function* replay(
  deliveries: readonly KeptDelivery[],
  { inbox, url, secret, rate, timeout }: ReplayOptions,
): AsyncGenerator<readonly [KeptDelivery, Replayed], void, undefined> {
  let next = performance.now();
  let unanswered = 0;
  for (const delivery of deliveries) {
    const kept = await inbox.get(delivery.key);
    if (kept === undefined) {
      yield [delivery, 'handled'];
      continue;
    }
    await sleep(Math.max(0, next - performance.now()));
    const started = performance.now();
    next = started + 1_000 / rate;
    const signed = signedDelivery({ secret, type: kept.kind, rawBody: kept.rawBody });
    const replayed = await post(signed.toRequest(url), timeout).catch((error: unknown) => ({
      error: explainNoAnswer(error, url),
      durationMs: Math.round(performance.now() - started),
    }));
    yield [delivery, replayed];
    unanswered = 'error' in replayed ? unanswered + 1 : 0;
    if (unanswered === MOST_UNANSWERED || isHopeless(replayed)) return;
  }
}

export function isAccepted(replayed: Replayed): boolean {
  if (replayed === 'handled') return true;
  return 'status' in replayed && replayed.status >= 200 && replayed.status <= 299;
}

/** Returns true if the address or the secret is at fault, not this delivery. */
function isHopeless(replayed: Exclude<Replayed, 'handled'>): boolean {
  if ('error' in replayed || isAccepted(replayed)) return false;
  const code = codeOf(replayed);
  if (code !== undefined) return code === 'invalid_signature' || code === 'misconfigured';
  return replayed.status < 500 && replayed.status !== 409 && replayed.status !== 429;
}
