/** Settles, or verifies, many orders, and reports them in lists. */
import { WebhookError } from '@paylink/core';
import { check, withinBounds } from '@paylink/core/internal';
import { isKeyRefused } from './answer.js';
import { NotAsked } from './asker.js';
import type {
  Listed,
  ListedErrors,
  Outcome,
  Payments,
  References,
  SweepOptions,
} from './contract.js';
import type { Settings } from './options.js';
import { checkOrder, differenceOf, keyOf } from './order.js';
import { refusal, toList, type Verdict } from './outcome.js';
import { now } from './pace.js';
import { Run } from './run.js';
import { findOrder } from './settle-order.js';
import { inOrder, inParallel, toCursor, validateSweep, type Item } from './sweep.js';

/** Settles each unpaid order. */
export function reconcile(
  settings: Settings,
  settle: (run: Run) => Promise<Verdict>,
  references: References | undefined,
  options: SweepOptions | undefined,
): ReturnType<Payments['reconcile']> {
  const lists = ['credited', 'paid', 'pending', 'noPayment', 'failed', 'cancelled'] as const;
  return sweep(settings, 'unpaid', lists, references, options, async (run) => {
    const verdict = await settle(run);
    return { ...verdict, list: toList(verdict) };
  });
}

/** Compares each paid order with the service. */
export function verify(
  settings: Settings,
  references: References | undefined,
  options: SweepOptions | undefined,
): ReturnType<Payments['verify']> {
  const lists = ['confirmed', 'notPaid', 'differs', 'unpaid', 'noPayment'] as const;
  return sweep(settings, 'paid', lists, references, options, async (run) => {
    try {
      const order = await findOrder(settings, run);
      const expected = checkOrder(order);
      if (order.paid !== true) return { list: 'unpaid' };
      const payment = await settings.askerOf(run.tenant).ask(run);
      if (payment.status !== 'success') return { list: 'notPaid', payment };
      const isSame = differenceOf(expected, payment) === undefined;
      return { list: isSame ? 'confirmed' : 'differs', payment };
    } catch (error) {
      const verdict = refusal(error);
      return { ...verdict, list: verdict.outcome === 'no_payment' ? 'noPayment' : 'errors' };
    } finally {
      run.stop();
    }
  });
}

const PROGRESS_INTERVAL = 1_000;
/** Milliseconds for which a run waits after its end for the orders under way. */
const GRACE = 2_000;
/** Number of answers that must all be 404 before the address is in doubt. */
const ENOUGH_404 = 10;

type Result<List> = Partial<Verdict> & { readonly list: List | 'errors' };

async function sweep<List extends string>(
  settings: Settings,
  source: 'unpaid' | 'paid',
  names: readonly List[],
  references: References | undefined,
  options: SweepOptions = {},
  work: (run: Run) => Promise<Result<List>>,
) {
  const { start, onProgress, concurrency, signal, timeLimit, ...own } = validateSweep(options);
  const tenant = settings.tenantOf(own.tenant);
  const end = now() + timeLimit;
  const ended = new AbortController();
  const context = {
    tenant,
    signal: AbortSignal.any(signal ? [ended.signal, signal] : [ended.signal]),
  };
  // Without a cursor, a run over the merchant's own list goes on where the last one was cut.
  const place = keyOf({ tenant, reference: source });
  const from = start ?? (references === undefined ? settings.cuts.get(place) : undefined);
  const list = readerOf(settings, source, references, () => settings.orders[source]!(context));
  const tally = new Tally([...names, 'errors' as const, 'notAsked' as const]);
  let total: number | undefined;
  let keyRefused = false;
  let answers = 0;
  const read = async (): Promise<References> => {
    const found = await list.read();
    total = Array.isArray(found) ? found.length : undefined;
    return found;
  };
  const tell = (): void => {
    const progress = { ...tally.progress(), total, pause: pauseOf(settings, tenant) };
    (async () => onProgress?.(progress))().catch(() => undefined);
  };
  const isOver = (): boolean => keyRefused || now() + pauseOf(settings, tenant) >= end;
  const take = async (item: Item): Promise<void> => {
    tally.begin(item);
    if (isOver()) {
      tally.end(item, 'notAsked');
      return;
    }
    if (!item.isString) {
      const error = noReference(item);
      if (tally.count('errors') === 0) settings.logger.error(`[paylink] ${error.message}`);
      tally.end(item, 'errors', { outcome: 'unknown_order', error });
      return;
    }
    const call = { reference: item.reference, tenant, source: 'reconcile' } as const;
    const run = new Run(call, settings.timeout, end);
    const result = await withinBounds(work(run), {
      milliseconds: end + GRACE - now(),
      reason: overdue,
      isBackground: true,
    }).catch((error: unknown): Result<List> => ({ ...refusal(error), list: 'errors' }));
    if (result.error instanceof NotAsked) {
      tally.end(item, 'notAsked', {}, result.error.isRefused);
      return;
    }
    keyRefused ||= isKeyRefused(result.error);
    if (result.payment !== undefined || result.outcome === 'no_payment') answers++;
    tally.end(item, result.list, result);
  };
  // Keeps the process alive, until the run ends or is aborted.
  const timer = setInterval(tell, PROGRESS_INTERVAL);
  let isRead = false;
  try {
    const items = inOrder(read, list.isRepeatable, from, ended.signal);
    // The rest of an array is counted. A stream is left after the first reference not asked.
    const isEnough = (): boolean => total === undefined && tally.cut !== undefined;
    const taking = inParallel(items, { concurrency, signal, end, isEnough }, take);
    isRead = await withinBounds(taking, { signals: [signal] });
    if (!isRead) {
      const reader = references === undefined ? `${source}()` : 'the list of references';
      settings.logger.error(`[paylink] ${reader} gave no more references before the time limit`);
    }
  } finally {
    clearInterval(timer);
    ended.abort();
    if (!isRead) tally.leaveUnread();
    // A list that failed at once says nothing about the place. The next run starts over if this one
    // got no further than the last: the list fails or hangs there.
    const isKnown = isRead || tally.cut !== undefined;
    const isStuck = !isRead && tally.total < 2 && from !== undefined;
    if (references === undefined && isKnown) {
      settings.cuts.set(place, isStuck ? undefined : tally.cut);
    }
  }
  tell();
  if (answers >= ENOUGH_404 && tally.count('noPayment' as List) === answers) {
    settings.logger.warn(
      `[paylink] the service answered 404 to all ${answers} questions: check \`baseUrl\` of the client`,
    );
  }
  return { ...tally.report(), keyRefused };
}

function overdue(): WebhookError {
  const message = 'the order was under way at the time limit, and its run goes on';
  return new WebhookError('handler_timeout', { message });
}

function noReference({ index }: Item): WebhookError {
  const message = `the reference at index ${index} must be a string: map each row to its reference`;
  return new WebhookError('unknown_order', { message });
}

/** Returns the milliseconds until the next question of the tenant's client. */
function pauseOf({ askerOf }: Settings, tenant: string | null): number {
  try {
    return askerOf(tenant).pause;
  } catch {
    return 0;
  }
}

interface Reader {
  readonly read: () => Promise<References>;
  /** True if `read` gives the references anew at each call. */
  readonly isRepeatable: boolean;
}

/** @throws ConfigurationError */
function readerOf(
  { orders }: Settings,
  source: 'unpaid' | 'paid',
  references: References | undefined,
  list: () => References | PromiseLike<References>,
): Reader {
  if (references === undefined) {
    const problem = `must be given, because \`orders\` has no function ${source}()`;
    check(orders[source] !== undefined, 'references', problem);
    return { read: async () => checkReferences(await list(), `${source}()`), isRepeatable: true };
  }
  const checked = checkReferences(references, 'references');
  // An iterator that is its own iterable, such as a generator, can be read once.
  const isRepeatable =
    Symbol.iterator in checked && (checked[Symbol.iterator]() as unknown) !== checked;
  return { read: async () => checked, isRepeatable };
}

/** A string is iterable too, by its characters. */
function checkReferences(references: References, name: string): References {
  const isList = typeof references === 'object' && references !== null;
  check(
    isList && (Symbol.iterator in references || Symbol.asyncIterator in references),
    name,
    'must be an iterable or async iterable of references, such as an array',
  );
  return references;
}

/** Number of references that a list of a report names. */
const MOST_LISTED = 1_000;

/** Counts the results of a run, and knows where the next run must start. */
class Tally<List extends string> {
  readonly #lists: Record<string, { count: number; references: string[] }>;
  readonly #outcomes: Partial<Record<Outcome, number>> = {};
  readonly #details: ListedErrors['details'][number][] = [];
  readonly #underWay = new Set<Item>();
  /** The first item in the order of the run that was not reached. */
  #left: Item | undefined;
  #last: Item | undefined;
  total = 0;

  constructor(names: readonly List[]) {
    const empty = () => ({ count: 0, references: [] as string[] });
    this.#lists = Object.fromEntries(names.map((name) => [name, empty()]));
  }

  begin(item: Item): void {
    this.total++;
    this.#underWay.add(item);
    this.#last = item;
  }

  /** The next run starts behind an item that was reached, even if the service refused it. */
  end(
    item: Item,
    name: List,
    { outcome, error }: Partial<Verdict> = {},
    isReached = name !== 'notAsked',
  ): void {
    this.#underWay.delete(item);
    const { reference } = item;
    const list = this.#lists[name]!;
    list.count++;
    if (list.references.length < MOST_LISTED) list.references.push(reference);
    if (!isReached) this.#left = earlier(this.#left, item);
    if (name !== 'errors') return;
    this.#outcomes[outcome!] = (this.#outcomes[outcome!] ?? 0) + 1;
    if (this.#details.length < MOST_LISTED) {
      this.#details.push({ reference, outcome: outcome!, message: error!.message });
    }
  }

  /** Notes that references were left unread. The next run starts at the last one read. */
  leaveUnread(): void {
    if (this.#last !== undefined) this.#left = earlier(this.#left, this.#last);
  }

  count(name: List): number {
    return this.#lists[name]!.count;
  }

  progress() {
    const { credited, errors, notAsked } = this.#lists;
    const ended = this.total - this.#underWay.size - notAsked!.count;
    return {
      ended,
      credited: credited?.count ?? 0,
      errors: errors!.count,
      cursor: this.left && toCursor(this.left),
    };
  }

  report() {
    const { errors, ...lists } = this.#lists;
    return {
      total: this.total,
      ...(lists as unknown as Record<Exclude<List, 'errors'>, Listed>),
      errors: { ...errors!, outcomes: this.#outcomes, details: this.#details },
      cursor: this.left && toCursor(this.left),
    };
  }

  /** Where the next run starts. An item under way may hang, so it counts as reached. */
  get cut(): Item | undefined {
    return this.#left;
  }

  /** The first item, in the order of the run, that has not ended. */
  get left(): Item | undefined {
    return [...this.#underWay].reduce(earlier, this.#left);
  }
}

function earlier(one: Item | undefined, other: Item): Item {
  return one === undefined || other.order < one.order ? other : one;
}
