import {
  check,
  checkNames,
  failureOf,
  isDone,
  isWebhookError,
  readBound,
  readIdempotency,
  readTenant,
  runOnce,
  withinBounds,
  type Idempotency,
  type IdempotencyOption as CoreIdempotencyOption,
  type TenantOption,
} from '@paylink/core/idempotency';
import { within } from './deadline.js';
import { checkSignal, PaylinkError, type PaylinkErrorCode } from './errors.js';
import { inParallel } from './in-parallel.js';
import type { Payment, SuccessfulPayment } from './payment.js';
import { RateLimit } from './rate-limit.js';
import { faultOfReference } from './reference.js';
import { readCursor, ReferenceOrder, type References } from './reference-order.js';
import {
  Report,
  type ReconcileOutcome,
  type ReconcileProgress,
  type ReconcileReport,
  type ReconcileResult,
} from './reconcile-report.js';

/** Anything that reads a payment from the service; a client is one. */
export interface PaymentReader {
  /**
   * Hand the options on to a client as they are: `tenant` names the merchant, and without `retryLimited: false` each call would
   * wait for the rate limit on its own.
   */
  getPayment(
    reference: string,
    options: { readonly signal: AbortSignal; readonly tenant?: string | undefined; readonly retryLimited: false },
  ): Promise<Payment>;
}

/** What a `key` of your own is made from: what the webhook's event and a payment both have. */
export interface ReconciledEvent {
  readonly type: 'payment.succeeded';
  readonly reference: string;
}

/** The webhook's own option: a store, or a store with an identity of the merchant's own. */
export type IdempotencyOption<Scope extends object> = CoreIdempotencyOption<Scope, unknown, ReconciledEvent>;

export interface ReconcileOptions<Scope extends object> {
  readonly client: PaymentReader;
  /** The references of your unpaid orders, all at once or as they are read from a database: the oldest first. */
  readonly references: References;
  /** The same as the webhook's own `idempotency`: by it a late notification is a duplicate. */
  readonly idempotency: IdempotencyOption<Scope>;
  /** Credits the order of a paid reference, as the webhook's handler does. Use `tx` for every write, where the store has one. */
  readonly onSuccess: (payment: SuccessfulPayment, context: ReconcileContext<Scope>) => unknown;
  /** The merchant whose orders these are, as the webhook's own `tenant`. A function is called once. Default: there is only one. */
  readonly tenant?: TenantOption<object> | undefined;
  /** References that are under way at a time, 1 to 100. Default 4. */
  readonly concurrency?: number | undefined;
  /** Milliseconds for each step of a reference: a question to the store, the reading, the run of `onSuccess`. Default 25,000. */
  readonly timeout?: number | undefined;
  /**
   * Milliseconds for the run as a whole, with the pauses that the service's rate limit asks for. After it no reference is
   * begun, and the report has those that were not asked. Default 600,000.
   */
  readonly deadline?: number | undefined;
  /** `cursor` of the last report, or of the last progress: the run starts there. Without it an array is started at random. */
  readonly cursor?: string | undefined;
  /** Ends the run, and what is under way. */
  readonly signal?: AbortSignal | undefined;
  /** Called once for each reference that was asked, as it ends. What it throws changes nothing. */
  readonly onResult?: ((result: ReconcileResult) => unknown) | undefined;
  /** Called at most once a second, when a pause begins, and at the end. What it throws changes nothing. */
  readonly onProgress?: ((progress: ReconcileProgress) => unknown) | undefined;
}

/** What `onSuccess` is given beside the payment: a signal that is aborted when its time is over, and the store's own, as `tx`. */
export type ReconcileContext<Scope extends object> = { readonly signal: AbortSignal; readonly tenant?: string } & Scope;

const OPTIONS = [
  'client',
  'references',
  'idempotency',
  'onSuccess',
  'tenant',
  'concurrency',
  'timeout',
  'deadline',
  'cursor',
  'signal',
  'onResult',
  'onProgress',
];

/** Milliseconds between two calls of `onProgress`. */
const PROGRESS_INTERVAL = 1_000;

/** How often one reference may be refused by the rate limit before it is an error. */
const MOST_REFUSALS = 5;

/**
 * Reads each reference from the service and credits the paid ones, under the same store and key as the webhook: the answer to
 * a notification that never came, and no second credit when it comes late. A reference that fails does not stop the others.
 * Where the service answers 429 or with a Retry-After, all references wait, and the refused one is asked again.
 *
 * @throws ConfigurationError that names the option; PaylinkError `aborted`; what `references` threw; WebhookError
 * `secret_unavailable` where the function `tenant` fails. `onResult` was then called for what was done before.
 */
export async function reconcile<Scope extends object>(options: ReconcileOptions<Scope>): Promise<ReconcileReport> {
  const { references, concurrency, deadline, onResult, onProgress, tenantOf, ...steps } = readReconcileOptions(options);
  const { signal } = steps;
  const tenant = await tenantOf({});
  const report = new Report();
  let reported = performance.now();
  const tellProgress = (pause?: number): void => {
    reported = performance.now();
    tell(onProgress, report.progress(references.total, pause));
  };
  const limit = new RateLimit(performance.now() + deadline, signal, tellProgress);
  // Of an array the rest is known; of anything else the first that was not asked is enough for the cursor.
  const isEnough = (): boolean => references.total === undefined && report.isIncomplete;
  await inParallel(references, concurrency, signal, isEnough, async (item) => {
    report.begin(item);
    const result = await settleReference(item.reference, { ...steps, tenant, limit });
    report.end(item, result);
    if (result !== undefined) tell(onResult, result);
    if (performance.now() - reported >= PROGRESS_INTERVAL) tellProgress();
  });
  tellProgress();
  return report.lists();
}

interface Steps<Scope extends object> {
  readonly client: PaymentReader;
  readonly idempotency: Idempotency<Scope, unknown, ReconciledEvent>;
  readonly onSuccess: ReconcileOptions<Scope>['onSuccess'];
  readonly tenant: string | undefined;
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
  readonly limit: RateLimit;
}

function readReconcileOptions<Scope extends object>(options: ReconcileOptions<Scope>) {
  checkNames(options, OPTIONS);
  const { client, references, onSuccess, concurrency = 4, timeout = 25_000, deadline = 600_000 } = options;
  const { signal, onResult, onProgress } = options;
  check(
    typeof (client as Partial<PaymentReader> | undefined)?.getPayment === 'function',
    'client',
    'must have a function `getPayment`',
  );
  check(isIterable(references), 'references', 'must be an iterable or async iterable of references, such as an array');
  check(typeof onSuccess === 'function', 'onSuccess', 'must be a function');
  check(onResult === undefined || typeof onResult === 'function', 'onResult', 'must be a function');
  check(onProgress === undefined || typeof onProgress === 'function', 'onProgress', 'must be a function');
  checkSignal(signal);
  return {
    client,
    idempotency: readIdempotency(options.idempotency),
    onSuccess,
    tenantOf: readTenant(options.tenant),
    concurrency: readBound('concurrency', concurrency, 1, 100),
    timeout: readBound('timeout', timeout),
    deadline: readBound('deadline', deadline),
    references: new ReferenceOrder(references, readCursor(options.cursor)),
    signal,
    onResult,
    onProgress,
  };
}

/** A string is iterable too, by its characters: one reference in place of a list would be many. */
function isIterable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value);
}

/** How the reference stands; nothing where it was not asked. */
async function settleReference<Scope extends object>(reference: string, steps: Steps<Scope>): Promise<ReconcileResult | undefined> {
  try {
    const outcome = await outcomeOf(reference, steps);
    return outcome && { reference, outcome };
  } catch (error) {
    return { reference, outcome: 'error', error };
  }
}

async function outcomeOf<Scope extends object>(reference: string, steps: Steps<Scope>): Promise<ReconcileOutcome | undefined> {
  const fault = faultOfReference(reference);
  if (fault !== undefined) throw new PaylinkError('invalid_reference', `reference ${fault}`);
  if (steps.limit.isOver) return undefined;
  const { idempotency } = steps;
  const identity = await idempotency.identify({ type: 'payment.succeeded', reference }, {}, steps.tenant);
  if (await limited(steps, 'store_unavailable', () => isDone(idempotency.store, identity.key).catch(rethrow))) return 'duplicate';
  const payment = await read(reference, steps);
  if (payment === undefined) return undefined;
  const status = readStatus(payment, reference);
  return isSuccess(payment) ? creditOnce(payment, identity, steps) : status;
}

/** The payment; nothing where the rate limit outlasts the run. */
async function read<Scope extends object>(reference: string, steps: Steps<Scope>): Promise<Payment | undefined> {
  const { client, tenant, limit } = steps;
  for (let refusals = 1; await limit.mayAsk(); refusals++) {
    try {
      const payment = await limited(steps, 'timeout', (signal) =>
        client.getPayment(reference, { signal, ...(tenant === undefined ? {} : { tenant }), retryLimited: false }),
      );
      limit.answered();
      return payment;
    } catch (error) {
      if (!limit.refused(error) || refusals === MOST_REFUSALS) throw error;
    }
  }
  return undefined;
}

/** The status of a payment, which a reader of the merchant's own may have given. */
function readStatus(payment: Payment | null, reference: string): ReconcileOutcome {
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
  { key, turn }: { readonly key: string; readonly turn: string },
  { idempotency, onSuccess, tenant, ...steps }: Steps<Scope>,
): Promise<ReconcileOutcome> {
  let thrown: unknown;
  const credit = async (signal: AbortSignal): Promise<ReconcileOutcome> => {
    const work = async (scope: Scope): Promise<void> => {
      // A store that begins late must not begin what nothing waits for any more.
      signal.throwIfAborted();
      try {
        const returned = await onSuccess(payment, { ...scope, signal, ...(tenant === undefined ? {} : { tenant }) });
        const failure = failureOf(returned);
        if (failure !== undefined) throw failure;
      } catch (error) {
        thrown = error;
        throw error;
      }
    };
    try {
      return (await runOnce(idempotency.store, key, work, { signal, turn })) === 'done' ? 'credited' : 'duplicate';
    } catch (error) {
      if (error === thrown) throw error;
      if (isWebhookError(error) && error.code === 'in_progress') return 'in_progress';
      return rethrow(error);
    }
  };
  return limited(steps, 'handler_timeout', credit);
}

/** The store's failure, as an error of this package. */
function rethrow(error: unknown): never {
  if (!isWebhookError(error) || error.code !== 'store_unavailable') throw error;
  throw new PaylinkError('store_unavailable', error.message, { cause: error.cause });
}

/** One step of a reference: it ends with its time, or when the caller aborts, also where it ignores the signal. */
function limited<T>(
  { timeout, signal }: Pick<Steps<object>, 'timeout' | 'signal'>,
  code: PaylinkErrorCode,
  step: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = (): PaylinkError =>
    new PaylinkError(code, `not done after ${timeout} ms; if it took effect after all, the next run finds a duplicate`);
  return within({ milliseconds: timeout, late, signal }, (limit) => withinBounds(step(limit), { signals: [limit] }));
}

/** Calls a hook of the merchant. Neither what it throws nor what it rejects with has an effect. */
function tell<T>(hook: ((value: T) => unknown) | undefined, value: T): void {
  try {
    Promise.resolve(hook?.(value)).catch(() => undefined);
  } catch {
    // The run goes on.
  }
}
