import { createHmac } from 'node:crypto';
import { signedDelivery } from '@paylink/testing';
import { explainNoAnswer, post, type Answer } from '../receiver/post.js';

/**
 * A kind that no receiver configures: receivers acknowledge and ignore a verified delivery of it.
 */
export const KIND = 'paylink.doctor';

export interface Endpoint {
  readonly url: URL;
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeout: number;
}

/** An answer, or the reason for a missing answer. */
export type Outcome = Answer | string;

export const COMPACT = JSON.stringify({ reference: 'paylink-doctor' });
export const SPACED = '{ "reference" : "paylink-doctor" }\n';

const VALUE = { reference: 'paylink-doctor' };
/**
 * JSON as formatters of several languages write it. A proxy that reformats JSON changes all of
 * these but its own.
 */
export const PRETTY: readonly string[] = [2, 4, '\t']
  .map((indent) => JSON.stringify(VALUE, undefined, indent))
  .concat(
    '{"reference": "paylink-doctor"}',
    '{ "reference": "paylink-doctor" }',
    '{"reference" : "paylink-doctor"}',
  )
  .flatMap((text) => [text, `${text}\n`]);

export class Probes {
  readonly #endpoint: Endpoint;
  /** The milliseconds of each answer. */
  readonly times: number[] = [];

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  genuine(rawBody: string, type = KIND): Promise<Outcome> {
    return this.#send(rawBody, { type });
  }

  /**
   * Sends a wrong signature of the right form. It derives from the secret, so that the receiver
   * recognises the probe and skips the diagnosis.
   */
  forged(url?: URL): Promise<Outcome> {
    const signature = createHmac('sha256', this.#endpoint.secret)
      .update(`${COMPACT}\npaylink doctor probe`)
      .digest('hex');
    return this.#send(COMPACT, { type: KIND, signature, url });
  }

  /** Returns true if the path answers GET. */
  async answersToGet(): Promise<boolean> {
    const { url, headers, timeout } = this.#endpoint;
    const answer = await post(new Request(url, { headers }), timeout).catch(() => undefined);
    return answer !== undefined && answer.status !== 404;
  }

  async #send(
    rawBody: string,
    options: { type: string; signature?: string; url?: URL | undefined },
  ): Promise<Outcome> {
    const { secret, headers, timeout } = this.#endpoint;
    const { type, signature, url = this.#endpoint.url } = options;
    const delivery = signedDelivery({ secret, type, rawBody });
    const forged = signature === undefined ? {} : { 'x-service-signature': signature };
    const request = new Request(delivery.toRequest(url), {
      headers: { ...headers, ...delivery.headers, ...forged },
    });
    const answer = await post(request, timeout).catch((error: unknown) =>
      explainNoAnswer(error, url),
    );
    if (typeof answer !== 'string') this.times.push(answer.durationMs);
    return answer;
  }
}
