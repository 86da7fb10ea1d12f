import { check, checkNames, readBound, withinBounds } from '@paylink/core/idempotency';
import { throwIfAborted, untilAborted, within } from './deadline.js';
import { checkSignal, PaylinkError } from './errors.js';
import type { Payment } from './payment.js';
import { RateLimit } from './rate-limit.js';
import type { PaymentReader } from './reconcile.js';

export interface ReadPaymentsOptions {
  readonly client: PaymentReader;
  /** As they are read from a file or a database: no more are taken than are under way. */
  readonly references: (Iterable<string> & object) | AsyncIterable<string>;
  /** References that are under way at a time, 1 to 100. Default 4. */
  readonly concurrency?: number | undefined;
  /** Milliseconds for each reading, without the pauses that the service's rate limit asks for. Default 25,000. */
  readonly timeout?: number | undefined;
  /** The merchant whose orders these are, handed on to the client. */
  readonly tenant?: string | undefined;
  /** Ends the readings that are under way. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the milliseconds when the service asks to wait. What it throws changes nothing. */
  readonly onPause?: ((milliseconds: number) => unknown) | undefined;
}

/** What the service said of one reference, or why it said nothing that can be used. */
export type PaymentReading =
  { readonly reference: string; readonly payment: Payment } | { readonly reference: string; readonly error: unknown };

/** Refusals by the rate limit without an answer in between, after which a reference is an error: the pauses are an hour by then. */
const MOST_REFUSALS = 60;

/**
 * Reads the payment of each reference and credits nothing. Gives one reading for each, in the order of the references. Where the
 * service answers 429 or with a Retry-After, all references wait, and the refused one is asked again. A reference that fails is a
 * reading with its `error`, and does not stop the others.
 *
 * @throws ConfigurationError that names the option; PaylinkError `aborted`; what `references` threw.
 */
export async function* readPayments(options: ReadPaymentsOptions): AsyncGenerator<PaymentReading, void, undefined> {
  const { client, references, concurrency, timeout, tenant, signal, onPause } = readReadingOptions(options);
  // Ends what is under way when its consumer has left.
  const left = new AbortController();
  const leave = (): void => left.abort(signal?.reason);
  const limit = new RateLimit(Infinity, left.signal, (milliseconds) => {
    try {
      Promise.resolve(onPause?.(milliseconds)).catch(() => undefined);
    } catch {
      // The reading goes on.
    }
  });
  const late = (): PaylinkError => new PaylinkError('timeout', `the reader gave no payment in ${timeout} ms`);
  const readOnce = (reference: string): Promise<Payment> =>
    within({ milliseconds: timeout, late, signal: left.signal }, (bound) =>
      withinBounds(
        client.getPayment(reference, { signal: bound, ...(tenant === undefined ? {} : { tenant }), retryLimited: false }),
        {
          signals: [bound],
        },
      ),
    );
  const read = async (reference: string): Promise<PaymentReading> => {
    try {
      for (;;) {
        await limit.mayAsk();
        try {
          const payment = await readOnce(reference);
          limit.answered();
          if (payment?.reference === reference) return { reference, payment };
          throw new PaylinkError('response_mismatch', 'getPayment gave no payment of the reference that it was asked for');
        } catch (error) {
          if (!limit.refused(error) || limit.refusals >= MOST_REFUSALS) throw error;
        }
      }
    } catch (error) {
      return { reference, error };
    }
  };

  const underWay: Promise<PaymentReading>[] = [];
  const source = Symbol.asyncIterator in references ? references[Symbol.asyncIterator]() : references[Symbol.iterator]();
  signal?.addEventListener('abort', leave);
  try {
    for (let exhausted = false; ;) {
      while (!exhausted && underWay.length < concurrency) {
        throwIfAborted(signal);
        const next: IteratorResult<string, unknown> = await untilAborted(Promise.resolve(source.next()), signal);
        if (next.done === true) exhausted = true;
        else underWay.push(read(next.value));
      }
      const first = underWay.shift();
      if (first === undefined) return;
      const reading = await first;
      throwIfAborted(signal);
      yield reading;
    }
  } finally {
    signal?.removeEventListener('abort', leave);
    leave();
    // Not awaited: a source that hangs must not hold up who has ended the readings.
    Promise.resolve(source.return?.()).catch(() => undefined);
  }
}

function readReadingOptions(options: ReadPaymentsOptions) {
  checkNames(options, ['client', 'references', 'concurrency', 'timeout', 'tenant', 'signal', 'onPause']);
  const { client, references, concurrency = 4, timeout = 25_000, tenant, signal, onPause } = options;
  check(
    typeof (client as Partial<PaymentReader> | undefined)?.getPayment === 'function',
    'client',
    'must have a function `getPayment`',
  );
  const isList = typeof references === 'object' && references !== null;
  check(
    isList && (Symbol.iterator in references || Symbol.asyncIterator in references),
    'references',
    'must be an iterable or async iterable of references, such as an array',
  );
  check(tenant === undefined || (typeof tenant === 'string' && tenant !== ''), 'tenant', 'must be a string that is not empty');
  check(onPause === undefined || typeof onPause === 'function', 'onPause', 'must be a function');
  checkSignal(signal);
  return {
    client,
    references,
    concurrency: readBound('concurrency', concurrency, 1, 100),
    timeout: readBound('timeout', timeout),
    tenant,
    signal,
    onPause,
  };
}
