/** Settles, or verifies, many orders. */
import type { WebhookError } from '@paylink/core';
import {
  check,
  checkSignal,
  validateBound,
  validateOptions,
  withinBounds,
} from '@paylink/core/internal';
import { isKeyRefused, NotAsked } from './answer.js';
import type {
  Listed,
  ListedErrors,
  Outcome,
  Payments,
  References,
  SweepOptions,
} from './contract.js';
import type { Settings } from './options.js';
import { checkOrder, differenceOf, keyOf, runError } from './order.js';
import {
  checkReferences,
  inOrder,
  isRepeatable,
  parseCursor,
  toCursor,
  type Item,
} from './references.js';
import { now, Run } from './run.js';
import { findOrder, refusal, TRANSLATIONS, type Verdict } from './settle-order.js';

export function reconcile(
  settings: Settings,
  settle: (run: Run) => Promise<Verdict>,
  ...call: Parameters<Payments['reconcile']>
): ReturnType<Payments['reconcile']> {
  const lists = ['credited', 'paid', 'pending', 'noPayment', 'failed', 'cancelled'] as const;
  const work = async (run: Run) => toResult(await settle(run));
  return sweep(settings, 'unpaid', lists, call, work);
}

export function verify(
  settings: Settings,
  ...call: Parameters<Payments['verify']>
): ReturnType<Payments['verify']> {
  const lists = ['confirmed', 'notPaid', 'differs', 'unpaid', 'noPayment'] as const;
  return sweep(settings, 'paid', lists, call, async (run) => {
    const order = await findOrder(settings, run);
    const expected = checkOrder(order);
    if (order.paid !== true) return { list: 'unpaid' };
    const payment = await settings.askerOf(run.tenant).ask(run);
    if (payment.status !== 'success') return { list: 'notPaid', payment };
    const isSame = differenceOf(expected, payment) === undefined;
    return { list: isSame ? 'confirmed' : 'differs', payment };
  });
}

/** Stands for the next reference if the list does not give it in time. */
const LATE = { done: true, value: undefined } as const;
const PROGRESS_INTERVAL = 1_000;
/** Milliseconds for which a run waits after its end for the orders under way. */
const GRACE = 2_000;
/** Milliseconds for a reference after the end, to count the rest of an array. */
const LAST_REFERENCE = 100;
/** Number of answers that must all be 404 before the address is in doubt. */
const ENOUGH_404 = 10;

const NAMES = ['cursor', 'onProgress', 'concurrency', 'tenant', 'signal', 'timeLimit'];

/** @throws ConfigurationError that names the option */
function validateSweep(options: SweepOptions) {
  const own = validateOptions(options, NAMES);
  const { cursor, onProgress, concurrency = 4, tenant, signal, timeLimit = 600_000 } = own;
  const isHook = onProgress === undefined || typeof onProgress === 'function';
  check(isHook, 'onProgress', 'must be a function');
  checkSignal(signal);
  validateBound('concurrency', concurrency, 1, 100);
  validateBound('timeLimit', timeLimit);
  return { start: parseCursor(cursor), onProgress, concurrency, tenant, signal, timeLimit };
}

async function sweep<List extends string>(
  settings: Settings,
  source: 'unpaid' | 'paid',
  names: readonly List[],
  [references, options = {}]: Parameters<Payments['reconcile']>,
  work: (run: Run) => Promise<Result<List>>,
) {
  const { start, onProgress, concurrency, signal, timeLimit, ...own } = validateSweep(options);
  const { orders, logger, cuts, timeout } = settings;
  const tenant = settings.tenantOf(own.tenant);
  const end = now() + timeLimit;
  const ended = new AbortController();
  const context = { tenant, signal: AbortSignal.any([ended.signal, ...(signal ? [signal] : [])]) };
  const problem = `must be given, because \`orders\` has no function ${source}()`;
  check(references !== undefined || orders[source] !== undefined, 'references', problem);
  if (references !== undefined) checkReferences(references);
  const tally = new Tally(names);
  let total: number | undefined;
  let keyRefused = false;
  let answers = 0;

  const read = async (): Promise<References> => {
    const found = references ?? checkReferences(await orders[source]!(context), `${source}()`);
    total = Array.isArray(found) ? found.length : undefined;
    return found;
  };
  const tell = (): void => {
    const progress = { ...tally.progress(), total, pause: pauseOf(settings, tenant) };
    (async () => onProgress?.(progress))().catch(() => undefined);
  };
  const resultOf = async ({ reference, index }: Item): Promise<Result<List>> => {
    if (keyRefused || now() + pauseOf(settings, tenant) >= end) return { list: 'notAsked' };
    if (reference === undefined) {
      const hint = 'must be a string: map each row to its reference';
      const error = runError('unknown_order', `the reference at index ${index} ${hint}`);
      if (tally.count('errors') === 0) logger.error(`[paylink] ${error.message}`);
      return { list: 'errors', outcome: 'unknown_order', error };
    }
    const run = new Run({ reference, tenant, source: 'reconcile' }, timeout, end);
    const bounds = { milliseconds: end + GRACE - now(), reason: overdue, isBackground: true };
    const working = work(run).finally(() => run.stop());
    const result = await withinBounds(working, bounds).catch(
      (error: unknown) => toResult(refusal(error)) as Result<List>,
    );
    const { error, payment, outcome } = result;
    if (error instanceof NotAsked) return { list: 'notAsked', isReached: error.isRefused };
    keyRefused ||= isKeyRefused(error);
    if (payment !== undefined || outcome === 'no_payment') answers++;
    return result;
  };

  // Without a cursor, a run over the merchant's own list goes on where the last one was cut.
  const place = keyOf({ tenant, reference: source });
  const from = start ?? (references === undefined ? cuts.get(place) : undefined);
  const canRepeat = references === undefined || isRepeatable(references);
  const items = inOrder(read, canRepeat, from, ended.signal);
  let isUnread = false;
  const takeAll = async (): Promise<void> => {
    // The rest of an array is counted. A stream is left after the first reference not asked.
    while (!ended.signal.aborted && !isUnread && (total !== undefined || !tally.left)) {
      const milliseconds = Math.max(LAST_REFERENCE, end - now());
      const bounds = { milliseconds, reason: () => LATE, isBackground: true };
      const next = await withinBounds(items.next(), bounds).catch((reason: unknown) => {
        if (reason === LATE) return LATE;
        throw reason;
      });
      isUnread ||= next === LATE;
      if (next.done === true) return;
      tally.begin(next.value);
      tally.end(next.value, await resultOf(next.value));
    }
  };
  // Keeps the process alive, until the run ends or is aborted.
  const timer = setInterval(tell, PROGRESS_INTERVAL);
  let isComplete = false;
  try {
    await withinBounds(Promise.all(Array.from({ length: concurrency }, takeAll)), {
      signals: [signal],
    });
    isComplete = !isUnread;
  } finally {
    clearInterval(timer);
    ended.abort();
    // Closes a database cursor behind the references, and does not wait, because that may hang.
    items.return().catch(() => undefined);
    if (!isComplete) tally.leaveUnread();
    // The next run reads a list from its start that failed or hung at the same place again.
    const { left = from } = tally;
    const isSame = left?.index === from?.index && left?.reference === from?.reference;
    const isStuck = !isComplete && signal?.aborted !== true && isSame;
    // A run that was aborted before its first reference changes nothing.
    const hasMoved = isComplete || isStuck || tally.left !== undefined;
    if (references === undefined && hasMoved) cuts.set(place, isStuck ? undefined : tally.left);
  }
  if (isUnread) {
    const reader = references === undefined ? `${source}()` : 'the list of references';
    logger.error(`[paylink] ${reader} gave no more references before the time limit`);
  }
  tell();
  if (answers >= ENOUGH_404 && tally.count('noPayment' as List) === answers) {
    const all = `404 to all ${answers} questions`;
    logger.warn(`[paylink] the service answered ${all}: check \`baseUrl\` of the client`);
  }
  return { ...tally.report(), keyRefused };
}

function toResult(verdict: Verdict) {
  return { ...verdict, list: TRANSLATIONS[verdict.outcome].reconcile };
}

function overdue(): WebhookError {
  const problem = 'the order was under way at the time limit, and its run goes on';
  return runError('handler_timeout', problem);
}

/** Returns the milliseconds until the next question of the tenant's client. */
function pauseOf({ askerOf }: Settings, tenant: string | null): number {
  try {
    return askerOf(tenant).pause;
  } catch {
    return 0;
  }
}

/** Number of references that a list of a report names. */
const MOST_LISTED = 1_000;

type Result<List> = Partial<Verdict> & {
  readonly list: List | 'errors' | 'notAsked';
  /** The next run starts behind an item that was reached. Default: unless it was not asked. */
  readonly isReached?: boolean;
};

class Tally<List extends string> {
  readonly #lists: Record<string, { count: number; references: string[] }>;
  readonly #outcomes: Partial<Record<Outcome, number>> = {};
  readonly #details: ListedErrors['details'][number][] = [];
  readonly #underWay = new Set<Item>();
  #last: Item | undefined;
  #total = 0;
  /** The first item in the order of the run that was not reached. One under way may hang. */
  left: Item | undefined;

  constructor(names: readonly List[]) {
    const all = [...names, 'errors', 'notAsked'];
    this.#lists = Object.fromEntries(all.map((name) => [name, { count: 0, references: [] }]));
  }

  begin(item: Item): void {
    this.#total++;
    this.#underWay.add(item);
    this.#last = item;
  }

  end(item: Item, { list: name, outcome, error, isReached }: Result<List>): void {
    const { reference = '' } = item;
    const list = this.#lists[name]!;
    list.count++;
    if (list.references.length < MOST_LISTED) list.references.push(reference);
    this.#underWay.delete(item);
    if (!(isReached ?? name !== 'notAsked')) this.left = earlier(this.left, item);
    if (name !== 'errors') return;
    this.#outcomes[outcome!] = (this.#outcomes[outcome!] ?? 0) + 1;
    if (this.#details.length < MOST_LISTED) {
      this.#details.push({ reference, outcome: outcome!, message: error!.message });
    }
  }

  /** Notes that references were left unread. The next run starts at the last one read. */
  leaveUnread(): void {
    if (this.#last !== undefined) this.left = earlier(this.left, this.#last);
  }

  count(name: List | 'errors'): number {
    return this.#lists[name]!.count;
  }

  progress() {
    const { credited, errors, notAsked } = this.#lists;
    const ended = this.#total - this.#underWay.size - notAsked!.count;
    return { ended, credited: credited?.count ?? 0, errors: errors!.count, cursor: this.#cursor };
  }

  report() {
    const { errors, ...lists } = this.#lists;
    return {
      total: this.#total,
      ...(lists as unknown as Record<List | 'notAsked', Listed>),
      errors: { ...errors!, outcomes: this.#outcomes, details: this.#details },
      cursor: this.#cursor,
    };
  }

  get #cursor(): string | undefined {
    const first = [...this.#underWay].reduce(earlier, this.left);
    return first && toCursor(first);
  }
}

function earlier(one: Item | undefined, other: Item): Item {
  return one === undefined || other.order < one.order ? other : one;
}
