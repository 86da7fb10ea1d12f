import { WebhookError } from '@paylink/core';
import {
  check,
  validateBound,
  validateOptions,
  withinBounds,
  checkSignal,
} from '@paylink/core/internal';
import { isClient, type PaymentClient, type ServicePayment } from '../ask.js';
import { validateTenant } from '../identity.js';
import { withLimit } from '../limits.js';
import { tell } from '../observe.js';
import { RateLimit } from './rate-limit.js';
import { checkReferences, type References } from './references.js';

export interface ReadPaymentsOptions<Payment extends ServicePayment> {
  readonly client: PaymentClient<Payment>;
  /** Read one by one, as running requests end. */
  readonly references: References;
  /** Simultaneous requests, 1 to 100. Default 4. */
  readonly concurrency?: number | undefined;
  /** Milliseconds for each request without the pauses. Default 25,000. */
  readonly timeout?: number | undefined;
  readonly tenant?: string | false | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Gets the milliseconds of a pause that the service asks for. */
  readonly onPause?: ((milliseconds: number) => unknown) | undefined;
}

/** The service's answer, or the client's error. */
export type PaymentReading<Payment extends ServicePayment> =
  | { readonly reference: string; readonly payment: Payment }
  | { readonly reference: string; readonly error: unknown };

const NAMES = ['client', 'references', 'concurrency', 'timeout', 'tenant', 'signal', 'onPause'];

/**
 * Reads the payment of each reference in order, without crediting. If the service returns 429, all
 * references wait. A reference that fails yields a reading with `error`.
 *
 * @throws ConfigurationError, the reason of the signal, or the error of `references`
 */
export async function* readPayments<Payment extends ServicePayment>(
  options: ReadPaymentsOptions<Payment>,
): AsyncGenerator<PaymentReading<Payment>, void, undefined> {
  const own = validateOptions(options, NAMES);
  const { client, references, concurrency = 4, timeout = 25_000, signal, onPause } = own;
  check(isClient(client), 'client', 'must be an object with getPayment()');
  checkReferences(references);
  validateBound('concurrency', concurrency, 1, 100);
  const milliseconds = validateBound('timeout', timeout);
  checkSignal(signal);
  const isHook = onPause === undefined || typeof onPause === 'function';
  check(isHook, 'onPause', 'must be a function');
  const tenant = validateTenant(own.tenant);

  // Ends the running requests if the consumer stops iterating.
  const left = new AbortController();
  const leave = (): void => left.abort(signal?.reason);
  const limit = new RateLimit({
    end: Infinity,
    signal: left.signal,
    mostRefusals: 60, // about an hour
    onPause: (pause) => tell(onPause, pause),
  });
  const read = async (reference: string): Promise<PaymentReading<Payment>> => {
    const question = { milliseconds, signal: left.signal, code: 'confirm_unavailable' } as const;
    const asTenant = tenant === undefined ? {} : { tenant };
    try {
      const payment = await limit.ask(() =>
        withLimit(question, (bound) =>
          client.getPayment(reference, { signal: bound, ...asTenant, retryLimited: false }),
        ),
      );
      if (payment?.reference === reference) return { reference, payment };
      const message = 'getPayment() must return the payment with the requested reference';
      return { reference, error: new WebhookError('confirm_unavailable', { message }) };
    } catch (error) {
      return { reference, error };
    }
  };

  const underWay: Promise<PaymentReading<Payment>>[] = [];
  const isAsync = Symbol.asyncIterator in references;
  const source = isAsync ? references[Symbol.asyncIterator]() : references[Symbol.iterator]();
  signal?.addEventListener('abort', leave);
  try {
    for (let exhausted = false; ;) {
      while (!exhausted && underWay.length < concurrency) {
        signal?.throwIfAborted();
        const taking = Promise.resolve(source.next());
        const next = await withinBounds(taking, { signals: [signal] });
        if (next.done === true) exhausted = true;
        else underWay.push(read(next.value));
      }
      const first = underWay.shift();
      if (first === undefined) return;
      const reading = await first;
      signal?.throwIfAborted();
      yield reading;
    }
  } finally {
    signal?.removeEventListener('abort', leave);
    leave();
    // Does not await, because a source may hang.
    Promise.resolve(source.return?.()).catch(() => undefined);
  }
}
