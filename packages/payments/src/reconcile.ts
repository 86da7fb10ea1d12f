/** Settles, or verifies, many orders. */
import {
  check,
  checkSignal,
  validateBound,
  validateOptions,
  withinBounds,
  type Bounds,
} from '@paylink/core/internal';
import { isKeyRefused, Limited } from './answer.js';
import type { Outcome, Payments, References, SweepOptions } from './contract.js';
import type { Settings } from './options.js';
import { checkOrder, differenceOf, runError } from './order.js';
import { now, Run, startTimer, unref } from './run.js';
import { findOrder, refusal, TRANSLATIONS, type Verdict } from './settle-order.js';

type Result = Partial<Verdict> & { readonly list: string };

export function reconcile(
  settings: Settings,
  settle: (run: Run) => Promise<Verdict>,
  ...call: Parameters<Payments['reconcile']>
): ReturnType<Payments['reconcile']> {
  const lists = {
    ...createLists('credited', 'paid', 'pending', 'noPayment', 'failed', 'cancelled', 'notAsked'),
    errors: createDetailed(),
    undecided: createDetailed(),
  };
  const work = async (run: Run) => toResult(await settle(run));
  return sweep(settings, 'unpaid', lists, call, work);
}

export function verify(
  settings: Settings,
  ...call: Parameters<Payments['verify']>
): ReturnType<Payments['verify']> {
  const lists = {
    ...createLists('confirmed', 'notPaid', 'differs', 'unpaid', 'noPayment', 'notAsked'),
    errors: createDetailed(),
  };
  return sweep(settings, 'paid', lists, call, async (run) => {
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
/** Milliseconds left for the orders that are in progress at the time limit. */
const GRACE = 2_000;
/** Number of answers that must all be 404 before the address is in doubt. */
const ENOUGH_404 = 10;
/** Number of references that a list of a report names. */
const MOST_LISTED = 1_000;
/** Number of references after which other work of the process goes on. */
const AT_A_STRETCH = 1_000;

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

/** `index:reference`, because the orders before the reference may be paid by the next run. */
function parseCursor(cursor: string | undefined) {
  const match = typeof cursor === 'string' ? /^(\d{1,15}):(.*)$/s.exec(cursor) : null;
  check(cursor === undefined || match !== null, 'cursor', 'must be the cursor of a report');
  return match && { index: Number(match[1]), reference: match[2] };
}

interface Lists extends Readonly<Record<'noPayment' | 'errors' | 'notAsked', List>> {
  readonly credited?: List;
}

async function sweep<AllLists extends Lists>(
  settings: Settings,
  source: 'unpaid' | 'paid',
  lists: AllLists,
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
  /** The runs by their positions in this run, the earliest first. */
  const underWay = new Map<number, Run | undefined>();
  let [begun, ended, firstNotAsked, refused401] = [0, 0, Infinity, 0];
  let hasPayment = false;
  let breath: Promise<void> | undefined;

  const indexOf = (position: number): number => (first + position) % all.length;
  const cursorAt = (position: number): string | undefined => {
    if (position >= all.length) return undefined;
    const reference = all[indexOf(position)];
    return `${indexOf(position)}:${typeof reference === 'string' ? reference : ''}`;
  };
  /** Milliseconds until the next question of the tenant's client. */
  const pauseNow = (): number => {
    try {
      return settings.askerOf(tenant).pause;
    } catch {
      return 0;
    }
  };
  const resultOf = async (reference: unknown, position: number): Promise<Result> => {
    while (pauseNow() > 0 && now() + pauseNow() < end) {
      // Before the run locks its order, because a webhook may wait for the order.
      await withinBounds(after(pauseNow()), { signals: [signal] });
    }
    if (refused401 > 1 || now() + pauseNow() >= end) return { list: 'notAsked' };
    if (typeof reference !== 'string') {
      const problem = `the reference at index ${indexOf(position)} must be a string`;
      const message = `${problem}: map each row to its reference`;
      return toResult(refusal(runError('unknown_order', message)));
    }
    const call = { reference, tenant, source: 'reconcile' } as const;
    const run = new Run(call, Math.min(timeout, end + GRACE - now()));
    underWay.set(position, run);
    const result = await work(run);
    const { error, payment } = result;
    // One 401 can come by chance.
    if (isKeyRefused(error)) refused401++;
    if (payment !== undefined) hasPayment = true;
    return error instanceof Limited && !error.isSent ? { ...result, list: 'notAsked' } : result;
  };
  const takeAll = async (): Promise<void> => {
    while (begun < all.length) {
      const position = begun++;
      underWay.set(position, undefined);
      if (begun % AT_A_STRETCH === 0) breath = after(0);
      await breath;
      const reference = all[indexOf(position)];
      let result = await resultOf(reference, position);
      // After the pause, which an abort of this call ends.
      if (result.error instanceof Limited) result = await resultOf(reference, position);
      underWay.delete(position);
      if (result.list === 'notAsked') firstNotAsked = Math.min(firstNotAsked, position);
      else ended++;
      addTo(lists[result.list as keyof Lists]!, reference, result);
    }
  };
  const tell = (): void => {
    const left = Math.min(begun, firstNotAsked, ...underWay.keys());
    const counts = { credited: lists.credited?.count ?? 0, errors: lists.errors.count };
    const progress = { ...counts, ended, total: all.length, pause: pauseNow() };
    (async () => onProgress?.({ ...progress, cursor: cursorAt(left) }))().catch(() => undefined);
  };
  // Keeps the process alive, until the run ends or is aborted.
  const timer = setInterval(tell, PROGRESS_INTERVAL);
  try {
    const working = Promise.all(Array.from({ length: concurrency }, takeAll));
    await withinBounds(working, { signals: [signal] });
  } finally {
    clearInterval(timer);
    begun = all.length;
    for (const run of underWay.values()) run?.abandon();
  }
  tell();
  if (failure !== undefined) throw failure.error;
  if (lists.noPayment.count >= ENOUGH_404 && !hasPayment) {
    const said = `404 to all ${lists.noPayment.count} requests`;
    logger.warn(`[paylink] the service answered ${said}: check \`baseUrl\` of the client`);
  }
  return {
    ...{ total: all.length, ...lists },
    ...{ keyRefused: refused401 > 1, cursor: cursorAt(firstNotAsked) },
  };
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
  { signal, timeout, end }: Pick<SweepOptions, 'signal'> & { timeout: number; end: number },
) {
  const all = new Set<unknown>();
  const reading = new AbortController();
  const late = (): unknown =>
    runError('orders_unavailable', `${name} did not end: no reference came in time`);
  const reason: Bounds['reason'] = (aborted) => (aborted === undefined ? late() : aborted.reason);
  const inTime = <T>(work: PromiseLike<T> | T): Promise<T> => {
    const milliseconds = Math.max(0, Math.min(timeout, end - now()));
    return withinBounds(Promise.resolve(work), { milliseconds, signals: [signal], reason });
  };
  let iterator: AsyncIterator<unknown> | Iterator<unknown> | undefined;
  try {
    iterator = iteratorOf(name, await inTime(open(reading.signal)));
    for (let read = 1; ; read++) {
      const step = iterator.next();
      const next = 'then' in step ? await inTime(step) : step;
      if (next.done === true) return { all: [...all] };
      all.add(next.value);
      if (now() >= end) throw late();
      if (read % AT_A_STRETCH === 0) await after(0);
    }
  } catch (error) {
    reading.abort(error);
    // Closes a cursor of the database, and does not wait, because that may hang.
    (async () => iterator?.return?.())().catch(() => undefined);
    if (signal?.aborted === true || all.size === 0) throw error;
    return { all: [...all], failure: { error } };
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
    const timer = startTimer(resolve, milliseconds);
    // An aborted run must not keep the process through a pause.
    if (milliseconds > 0) unref(timer);
  });

interface List {
  count: number;
  readonly references: string[];
}

interface DetailedList extends List {
  readonly outcomes: Partial<Record<Outcome, number>>;
  readonly details: { reference: string; outcome: Outcome; message: string }[];
}

function createLists<Name extends string>(...names: Name[]): Record<Name, List> {
  const lists = names.map((name) => [name, { count: 0, references: [] }]);
  return Object.fromEntries(lists) as Record<Name, List>;
}

const createDetailed = (): DetailedList => ({
  count: 0,
  references: [],
  outcomes: {},
  details: [],
});

function addTo(list: List | DetailedList, given: unknown, { outcome, error }: Result): void {
  const reference = typeof given === 'string' ? given : '';
  const isListed = list.count++ < MOST_LISTED;
  if (isListed) list.references.push(reference);
  if (!('details' in list)) return;
  list.outcomes[outcome!] = (list.outcomes[outcome!] ?? 0) + 1;
  if (isListed) list.details.push({ reference, outcome: outcome!, message: error!.message });
}
