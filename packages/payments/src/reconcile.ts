/** Settles, or verifies, many orders. */
import {
  check,
  checkSignal,
  validateBound,
  validateOptions,
  withinBounds,
} from '@paylink/core/internal';
import { isKeyRefused, Limited } from './answer.js';
import type {
  Listed,
  ListedWithDetails,
  Outcome,
  Payments,
  References,
  SweepOptions,
} from './contract.js';
import type { Settings } from './options.js';
import { checkOrder, differenceOf, runError } from './order.js';
import { now, Run, startTimer } from './run.js';
import { findOrder, refusal, TRANSLATIONS, type Verdict } from './settle-order.js';

type Result = Partial<Verdict> & { readonly list: string };

export function reconcile(
  settings: Settings,
  settle: (run: Run) => Promise<Verdict>,
  ...call: Parameters<Payments['reconcile']>
): ReturnType<Payments['reconcile']> {
  const lists = ['credited', 'paid', 'pending', 'noPayment', 'failed', 'cancelled'] as const;
  const detailed = ['errors', 'undecided'] as const;
  const work = async (run: Run) => toResult(await settle(run));
  return sweep(settings, 'unpaid', lists, detailed, call, work);
}

export function verify(
  settings: Settings,
  ...call: Parameters<Payments['verify']>
): ReturnType<Payments['verify']> {
  const lists = ['confirmed', 'notPaid', 'differs', 'unpaid', 'noPayment'] as const;
  return sweep(settings, 'paid', lists, ['errors'], call, async (run) => {
    try {
      const row = await findOrder(settings, run);
      const expected = checkOrder(row);
      if (row.paid !== true) return { list: 'unpaid' };
      const payment = await settings.askerOf(run.tenant).ask(run);
      settings.forget(run);
      if (payment.status !== 'success') return { list: 'notPaid', payment };
      const isSame = differenceOf(expected, payment) === undefined;
      return { list: isSame ? 'confirmed' : 'differs', payment };
    } catch (error) {
      return toResult(refusal(error));
    } finally {
      run.stop();
    }
  });
}

function toResult(verdict: Verdict): Result {
  return { ...verdict, list: TRANSLATIONS[verdict.outcome].reconcile };
}

const PROGRESS_INTERVAL = 1_000;
/** Milliseconds for which a run waits after its time limit for the orders under way. */
const GRACE = 2_000;
/** Number of answers that must all be 404 before the address is in doubt. */
const ENOUGH_404 = 10;
/** Number of references that a list of a report names. */
const MOST_LISTED = 1_000;
const LONGEST_MESSAGE = 500;
/** Number of references after which other work of the process goes on. */
const AT_A_STRETCH = 100;

const NAMES = ['cursor', 'onProgress', 'concurrency', 'tenant', 'signal', 'timeLimit'];

/** @throws ConfigurationError that names the option */
function readOptions(options: SweepOptions) {
  const own = validateOptions(options, NAMES);
  const { cursor, onProgress, concurrency = 4, tenant, signal, timeLimit = 600_000 } = own;
  const isHook = onProgress === undefined || typeof onProgress === 'function';
  check(isHook, 'onProgress', 'must be a function');
  checkSignal(signal);
  validateBound('concurrency', concurrency, 1, 100);
  validateBound('timeLimit', timeLimit);
  return { start: parseCursor(cursor), onProgress, concurrency, tenant, signal, timeLimit };
}

/** `index:reference`, because the orders in front of the reference may be paid by the next run. */
function parseCursor(cursor: string | undefined) {
  const match = typeof cursor === 'string' ? /^(\d{1,15}):(.*)$/s.exec(cursor) : null;
  check(cursor === undefined || match !== null, 'cursor', 'must be the cursor of a report');
  return match && { index: Number(match[1]), reference: match[2] };
}

async function sweep<List extends string, Detailed extends string>(
  settings: Settings,
  source: 'unpaid' | 'paid',
  lists: readonly List[],
  detailed: readonly Detailed[],
  [references, options = {}]: Parameters<Payments['reconcile']>,
  work: (run: Run) => Promise<Result>,
) {
  const { start, onProgress, concurrency, signal, timeLimit, ...own } = readOptions(options);
  const { orders, logger, timeout } = settings;
  const tenant = settings.tenantOf(own.tenant);
  const problem = `must be given, because \`orders\` has no function ${source}()`;
  check(references !== undefined || orders[source] !== undefined, 'references', problem);
  const end = now() + timeLimit;
  const name = references === undefined ? `${source}()` : 'the list of references';
  const open = (reading: AbortSignal) => references ?? orders[source]!({ tenant, signal: reading });
  const { all, failure } = await readList(name, open, { signal, timeout, end });
  const found = start === null ? 0 : all.indexOf(start.reference);
  const first = found < 0 ? start!.index : found;
  const report = new Report([...lists, 'notAsked'], detailed);
  const underWay = new Map<number, Run | undefined>();
  /** Positions of orders that the service did not let us ask. They get a second try at the end. */
  const again: number[] = [];
  let [begun, triedAgain, answers, isEnded] = [0, 0, 0, false];
  let breath: Promise<void> | undefined;
  let refused401: string | undefined;
  let keyRefused = false;

  const cursorAt = (position: number): string | undefined => {
    const index = (first + position) % all.length;
    const reference = all[index];
    return position < all.length
      ? `${index}:${typeof reference === 'string' ? reference : ''}`
      : undefined;
  };
  const resultOf = async (reference: unknown, position: number): Promise<Result> => {
    for (let pause; (pause = pauseOf(settings, tenant)) > 0 && now() + pause < end;) {
      // Before it takes its order, for which a webhook may wait.
      await withinBounds(after(pause), { signals: [signal] });
    }
    if (keyRefused || now() + pauseOf(settings, tenant) >= end) return { list: 'notAsked' };
    if (typeof reference !== 'string') {
      const problem = `the reference at index ${(first + position) % all.length} must be a string`;
      const message = `${problem}: map each row to its reference`;
      return toResult(refusal(runError('unknown_order', message)));
    }
    const run = new Run({ reference, tenant, source: 'reconcile' }, timeout);
    underWay.set(position, run);
    const late = 'the order was under way at the time limit, and its run goes on';
    const reason = () => runError('handler_timeout', late);
    const bounds = { milliseconds: end + GRACE - now(), reason, isBackground: true };
    const result = await withinBounds(work(run), bounds).catch((error: unknown) => {
      run.abandon();
      return toResult(refusal(error));
    });
    const { error, payment, outcome } = result;
    if (isKeyRefused(error)) {
      // One 401 can come by chance.
      keyRefused ||= refused401 !== undefined && refused401 !== reference;
      refused401 ??= reference;
    }
    if (payment !== undefined || outcome === 'no_payment') answers++;
    return error instanceof Limited && !error.isSent ? { ...result, list: 'notAsked' } : result;
  };
  const takeAll = async (): Promise<void> => {
    while (begun < all.length || triedAgain < again.length) {
      const isFirstTry = begun < all.length;
      const position = isFirstTry ? begun++ : again[triedAgain++]!;
      underWay.set(position, undefined);
      if (position % AT_A_STRETCH === AT_A_STRETCH - 1) breath = after(0);
      await breath;
      const reference = all[(first + position) % all.length];
      const result = await resultOf(reference, position);
      underWay.delete(position);
      if (isFirstTry && result.error instanceof Limited && !isEnded) again.push(position);
      else report.add(reference, position, result);
    }
  };
  const tell = (): void => {
    const left = Math.min(begun, report.left, ...underWay.keys(), again[triedAgain] ?? Infinity);
    const progress = { ...report.progress(), total: all.length, cursor: cursorAt(left) };
    const pause = pauseOf(settings, tenant);
    (async () => onProgress?.({ ...progress, pause }))().catch(() => undefined);
  };
  // Keeps the process alive, until the run ends or is aborted.
  const timer = setInterval(tell, PROGRESS_INTERVAL);
  try {
    const working = Promise.all(Array.from({ length: concurrency }, takeAll));
    await withinBounds(working, { signals: [signal] });
  } finally {
    clearInterval(timer);
    isEnded = true;
    begun = all.length;
    again.length = 0;
    for (const run of underWay.values()) run?.abandon();
  }
  tell();
  if (failure !== undefined) throw failure.error;
  if (answers >= ENOUGH_404 && report.count('noPayment') === answers) {
    const said = `404 to all ${answers} questions`;
    logger.warn(`[paylink] the service answered ${said}: check \`baseUrl\` of the client`);
  }
  const cursor = cursorAt(report.left);
  return { total: all.length, ...report.lists<List | 'notAsked', Detailed>(), keyRefused, cursor };
}

interface ListOptions {
  readonly signal: AbortSignal | undefined;
  /** Milliseconds for each reference. */
  readonly timeout: number;
  /** The value of `now()` at which the list must have ended. */
  readonly end: number;
}

/**
 * Reads the references, each once. `failure` has the error of a list that throws or hangs: an error
 * of one row must not keep the schedule from the others.
 *
 * @throws ConfigurationError, or the reason of the signal
 */
async function readList(
  name: string,
  open: (reading: AbortSignal) => References | PromiseLike<References>,
  { signal, timeout, end }: ListOptions,
) {
  const all = new Set<unknown>();
  const reading = new AbortController();
  const reason = (): unknown => {
    if (signal?.aborted === true) return signal.reason;
    return runError('orders_unavailable', `${name} did not end: no reference came in time`);
  };
  const inTime = <T>(work: PromiseLike<T> | T): Promise<T> => {
    const milliseconds = Math.max(0, Math.min(timeout, end - now()));
    return withinBounds(Promise.resolve(work), { milliseconds, signals: [signal], reason });
  };
  let iterator: AsyncIterator<unknown> | Iterator<unknown> | undefined;
  let failure: { readonly error: unknown } | undefined;
  try {
    iterator = iteratorOf(name, await inTime(open(reading.signal)));
    for (let read = 1; ; read++) {
      const step = iterator.next();
      const next = 'then' in step ? await inTime(step) : step;
      if (next.done === true) return { all: [...all], failure };
      all.add(next.value);
      if (now() >= end) throw reason();
      if (read % MOST_LISTED === 0) await after(0);
    }
  } catch (error) {
    reading.abort(error);
    // Closes a cursor of the database, and does not wait, because that may hang.
    (async () => iterator?.return?.())().catch(() => undefined);
    if (signal?.aborted === true || all.size === 0) throw error;
    failure = { error };
    return { all: [...all], failure };
  }
}

/** @throws ConfigurationError. A string is iterable too, by its characters. */
function iteratorOf(name: string, list: unknown): AsyncIterator<unknown> | Iterator<unknown> {
  const { [Symbol.asyncIterator]: isAsync, [Symbol.iterator]: isSync } = Object(list) as Partial<
    AsyncIterable<unknown> & Iterable<unknown>
  >;
  const isList = typeof list === 'object' && (isAsync ?? isSync) !== undefined;
  const problem = 'must be an iterable or async iterable of references, such as an array';
  check(isList, name.startsWith('the') ? 'references' : name, problem);
  return isAsync === undefined ? isSync!.call(list) : isAsync.call(list);
}

const after = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = startTimer(resolve, milliseconds) as Partial<NodeJS.Timeout>;
    // An aborted run must not keep the process through a pause.
    if (milliseconds > 0) timer.unref?.();
  });

/** Returns the milliseconds until the next question of the tenant's client. */
function pauseOf({ askerOf }: Settings, tenant: string | null): number {
  try {
    return askerOf(tenant).pause;
  } catch {
    return 0;
  }
}

class Report {
  readonly #lists = new Map<string, { count: number; references: string[] }>();
  readonly #detailed = new Map<string, ReturnType<typeof noDetails>>();
  /** The first position that was not asked. */
  left = Infinity;

  constructor(lists: readonly string[], detailed: readonly string[]) {
    for (const name of [...lists, ...detailed]) this.#lists.set(name, { count: 0, references: [] });
    for (const name of detailed) this.#detailed.set(name, noDetails());
  }

  add(given: unknown, position: number, { list: name, outcome, error }: Result): void {
    const reference = typeof given === 'string' ? given : '';
    const list = this.#lists.get(name)!;
    if (name === 'notAsked') this.left = Math.min(this.left, position);
    if (list.count++ < MOST_LISTED) list.references.push(reference);
    const detailed = this.#detailed.get(name);
    if (detailed === undefined) return;
    const { outcomes, details } = detailed;
    outcomes[outcome!] = (outcomes[outcome!] ?? 0) + 1;
    const message = error!.message.slice(0, LONGEST_MESSAGE);
    if (list.count <= MOST_LISTED) details.push({ reference, outcome: outcome!, message });
  }

  count(name: string): number {
    return this.#lists.get(name)?.count ?? 0;
  }

  progress() {
    let ended = -this.count('notAsked');
    for (const { count } of this.#lists.values()) ended += count;
    return { ended, credited: this.count('credited'), errors: this.count('errors') };
  }

  lists<List extends string, Detailed extends string>() {
    const all = [...this.#lists].map(([name, list]) => [
      name,
      { ...list, ...this.#detailed.get(name) },
    ]);
    return Object.fromEntries(all) as Record<List, Listed> & Record<Detailed, ListedWithDetails>;
  }
}

function noDetails() {
  const details: ListedWithDetails['details'][number][] = [];
  return { outcomes: {} as Partial<Record<Outcome, number>>, details };
}
