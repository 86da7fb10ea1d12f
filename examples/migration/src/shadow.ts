import { isWebhookError, type WebhookHeaders } from '@paylink/core';

/** What the receiver in charge made of the signature. */
export type Verdict = 'accepted' | 'refused';

/**
 * `shadow` is `accepted`, a code of Paylink, `error` or `skipped`: a fixed set, so both fit the
 * labels of a metric.
 */
export type Count = (old: Verdict, shadow: string) => unknown;

/** What `createVerifier` makes, as far as it is used. */
interface Verifier {
  verify(rawBody: Uint8Array, headers: WebhookHeaders): Promise<unknown>;
}

/**
 * The most deliveries whose check may be under way. A check that never ends must not fill the
 * memory.
 */
const AT_ONCE = 100;

/**
 * Makes a function that verifies beside the receiver in charge and counts both verdicts. It returns
 * at once and never throws, so that it cannot change an answer.
 *
 * @param makeVerifier called at the first delivery: a secret that Paylink refuses must not keep the
 *   old receiver from starting
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
