import { isWebhookError, type WebhookHeaders } from '@paylink/core';

/** The active receiver's verdict on the signature. */
export type Verdict = 'accepted' | 'refused';

/**
 * `shadow` is `accepted`, a Paylink code, `error` or `skipped`. The set is fixed, so both values
 * can label a metric.
 */
export type Count = (old: Verdict, shadow: string) => unknown;

/** The part of `createVerifier`'s result that the shadow uses. */
interface Verifier {
  verify(rawBody: Uint8Array, headers: WebhookHeaders): Promise<unknown>;
}

/** The maximum of concurrent checks, so that checks that never end cannot fill the memory. */
const AT_ONCE = 100;

/**
 * Returns a function that verifies alongside the active receiver and counts both verdicts. The
 * function returns immediately and never throws, so it cannot change a reply.
 *
 * @param makeVerifier called at the first delivery, so that a secret that Paylink rejects does not
 *   stop the old receiver from starting
 */
export function createShadow(makeVerifier: () => Verifier, count: Count) {
  let verifier: Verifier | undefined;
  let underWay = 0;

  async function verdict(rawBody: Uint8Array, headers: WebhookHeaders): Promise<string> {
    try {
      verifier ??= makeVerifier();
      await verifier.verify(rawBody, headers);
      return 'accepted';
    } catch (error) {
      return isWebhookError(error) ? error.code : 'error';
    }
  }

  async function compare(
    old: Verdict,
    rawBody: Uint8Array,
    headers: WebhookHeaders,
  ): Promise<void> {
    if (underWay === AT_ONCE) return void count(old, 'skipped');
    underWay++;
    const shadow = await verdict(rawBody, headers);
    underWay--;
    count(old, shadow);
  }

  return (genuine: boolean, rawBody: Uint8Array, headers: WebhookHeaders): void => {
    compare(genuine ? 'accepted' : 'refused', rawBody, headers).catch(() => undefined);
  };
}
