import { untilAborted, within } from './deadline.js';
import { check, checkNames, checkSignal, LONGEST_TIMER, PaylinkError, readBound, type PaylinkErrorCode } from './errors.js';
import { inParallel } from './in-parallel.js';
import type { Payment, SuccessfulPayment } from './payment.js';
import { Report, type ReconcileOutcome, type ReconcileReport, type ReconcileResult } from './reconcile-report.js';
import { faultOfReference } from './reference.js';
import { isDone, readIdempotency, runOnce, type Idempotency, type IdempotencyOption } from './store.js';

/** Anything that reads a payment from the service; a client is one. */
export interface PaymentReader {
  getPayment(reference: string, options: { readonly signal: AbortSignal }): Promise<Payment>;
}

export interface ReconcileOptions<Scope extends object> {
  readonly client: PaymentReader;
  /** The references that your orders still wait for, all at once or as they are read from a database. */
  readonly references: (Iterable<string> & object) | AsyncIterable<string>;
  /** The same as the webhook's own `idempotency`: by it a notification that comes late is a duplicate. */
  readonly idempotency: IdempotencyOption<Scope>;
  /** Credits the order of a paid reference, as the webhook's handler does. Use `tx` for every write, where the store has one. */
  readonly onSuccess: (payment: SuccessfulPayment, context: ReconcileContext<Scope>) => unknown;
  /** References that are under way at a time, 1 to 100. Default 4. */
  readonly concurrency?: number | undefined;
  /** Milliseconds for each step of a reference: a question to the store, the reading, the run of `onSuccess`. Default 25,000. */
  readonly timeout?: number | undefined;
  /** Ends the whole, and what is under way. */
  readonly signal?: AbortSignal | undefined;
  /** Called once for each reference, as it ends. What it throws changes nothing. */
  readonly onResult?: ((result: ReconcileResult) => unknown) | undefined;
}

/** What `onSuccess` is given beside the payment: a signal that is aborted when its time is over, and the store's own, as `tx`. */
export type ReconcileContext<Scope extends object> = { readonly signal: AbortSignal } & Scope;

const OPTIONS = ['client', 'references', 'idempotency', 'onSuccess', 'concurrency', 'timeout', 'signal', 'onResult'];

/**
 * Reads each reference from the service and credits the paid ones, under the same store and key as the webhook: the answer to
 * a notification that never came, and no second credit when it comes late. A reference that fails does not stop the others.
 *
 * @throws ConfigurationError that names the option; PaylinkError `aborted`; what `references` threw. `onResult` has then told
 * of what was done before.
 */
export async function reconcile<Scope extends object>(options: ReconcileOptions<Scope>): Promise<ReconcileReport> {
  const { references, concurrency, signal, onResult, ...steps } = readReconcileOptions(options);
  const report = new Report();
  await inParallel(references, concurrency, signal, async (reference) => {
    const result = await settleReference(reference, { ...steps, signal });
    report.add(result);
    tell(onResult, result);
  });
  return report.lists();
}

interface Steps<Scope extends object> {
  readonly client: PaymentReader;
  readonly idempotency: Idempotency<Scope>;
  readonly onSuccess: ReconcileOptions<Scope>['onSuccess'];
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
}

function readReconcileOptions<Scope extends object>(options: ReconcileOptions<Scope>) {
  checkNames(options, OPTIONS);
  const { client, references, onSuccess, concurrency = 4, timeout = 25_000, signal, onResult } = options;
  check(
    typeof (client as Partial<PaymentReader> | undefined)?.getPayment === 'function',
    'client',
    'must have a function `getPayment`',
  );
  check(isIterable(references), 'references', 'must be an iterable or async iterable of references, such as an array');
  check(typeof onSuccess === 'function', 'onSuccess', 'must be a function');
  check(onResult === undefined || typeof onResult === 'function', 'onResult', 'must be a function');
  checkSignal(signal);
  return {
    client,
    references,
    idempotency: readIdempotency(options.idempotency),
    onSuccess,
    concurrency: readBound('concurrency', concurrency, 1, 100),
    timeout: readBound('timeout', timeout, 1, LONGEST_TIMER),
    signal,
    onResult,
  };
}

/** A text is iterable too, by its characters: one reference in place of a list would be none. */
function isIterable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value);
}

async function settleReference<Scope extends object>(reference: string, steps: Steps<Scope>): Promise<ReconcileResult> {
  try {
    return { reference, outcome: await outcomeOf(reference, steps) };
  } catch (error) {
    return { reference, outcome: 'error', error };
  }
}

async function outcomeOf<Scope extends object>(reference: string, steps: Steps<Scope>): Promise<ReconcileOutcome> {
  const fault = faultOfReference(reference);
  if (fault !== undefined) throw new PaylinkError('invalid_reference', `reference ${fault}`);
  const key = await steps.idempotency.keyOf(reference);
  const done = await limited(steps, 'store_unavailable', () => isDone(steps.idempotency.store, key));
  if (done) return 'duplicate';
  const payment = await limited(steps, 'timeout', (signal) => steps.client.getPayment(reference, { signal }));
  const status = readStatus(payment, reference);
  return isSuccess(payment) ? creditOnce(payment, key, steps) : status;
}

/** The status of a payment, which a reader of the merchant's own may have given. */
function readStatus(payment: Payment | null | undefined, reference: string): ReconcileOutcome {
  if (payment?.reference !== reference) {
    throw new PaylinkError('response_mismatch', 'getPayment gave no payment of the reference that it was asked for');
  }
  return payment.status === 'pending' || payment.status === 'failed' || payment.status === 'cancelled' ? payment.status : 'unknown';
}

function isSuccess(payment: Payment): payment is SuccessfulPayment {
  return payment.status === 'success';
}

async function creditOnce<Scope extends object>(
  payment: SuccessfulPayment,
  key: string,
  steps: Steps<Scope>,
): Promise<ReconcileOutcome> {
  const { idempotency, onSuccess } = steps;
  const result = await limited(steps, 'handler_timeout', (signal) =>
    runOnce(
      idempotency.store,
      key,
      async (scope) => {
        // A store that comes to it late must not start what nobody waits for any more.
        signal.throwIfAborted();
        await onSuccess(payment, { ...scope, signal });
      },
      signal,
    ),
  );
  return result === 'done' ? 'credited' : result;
}

/** One step of a reference: over when its time is, or when the caller aborts, whether it heeds the signal or not. */
function limited<T>(
  { timeout, signal }: Pick<Steps<object>, 'timeout' | 'signal'>,
  code: PaylinkErrorCode,
  step: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = (): PaylinkError =>
    new PaylinkError(code, `no end after ${timeout} ms: if it took effect all the same, the next run finds a duplicate`);
  return within({ milliseconds: timeout, late, signal }, (limit) => untilAborted(step(limit), limit));
}

/** Lets nothing of the merchant's hook out: neither what it throws nor what it rejects with. */
function tell(onResult: ReconcileOptions<object>['onResult'], result: ReconcileResult): void {
  try {
    Promise.resolve(onResult?.(result)).catch(() => undefined);
  } catch {
    // The reference has ended as it has.
  }
}
