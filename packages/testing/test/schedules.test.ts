/** The choice of the tries and their judgement, on a made-up merchant without a database. */
import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Attempt } from '../src/schedules/attempt.js';
import { Changes } from '../src/schedules/changes.js';
import { readDatabase } from '../src/schedules/database.js';
import { explore, type ExploreOptions } from '../src/schedules/explore.js';
import { faultOf } from '../src/schedules/fault.js';
import { ModuleSubject } from '../src/schedules/module.js';
import { Caller } from '../src/schedules/process.js';
import type { Proxy } from '../src/schedules/proxy.js';
import { Round } from '../src/schedules/round.js';
import { testSchedules } from '../src/schedules/index.js';
import { writeStory } from '../src/schedules/story.js';
import type { Delivered, NewOrder, Party, Subject, Truth } from '../src/schedules/subject.js';

interface Shop {
  /** The statements of each delivery, one for each round. */
  readonly statements?: readonly string[];
  /** Turns of the event loop that a delivery needs for its first round. Default: none. */
  readonly turns?: () => number;
  /** Called by each delivery at its end, and by each recovery with its name. */
  readonly credit?: (order: NewOrder, recovery?: string) => void;
  /** Default: every order is paid. */
  readonly truth?: (order: NewOrder) => Truth;
  /** Default: paid, with one effect. */
  readonly alone?: Truth;
  readonly total?: () => number;
  readonly isInTransaction?: boolean;
  /** The result of each `credit`. Default: undefined. */
  readonly credited?: number;
  /** Called if a connection is cut, or a process killed. */
  readonly onEnd?: (end: 'cut' | 'kill') => void;
  readonly subject?: Partial<Subject>;
}

/** A process whose rounds are answered as soon as they are released. */
class Process implements Party {
  replies: Delivered[] = [];
  readonly credited: number | undefined;
  #held: Round[] = [];
  #sent: Round[] = [];
  #order!: NewOrder;
  #turns = 0;
  readonly proxy: Proxy;

  constructor(readonly shop: Shop) {
    this.credited = shop.credited;
    const held = (): Round[] => (this.#turns > 0 ? [] : this.#held.slice(0, 1));
    const sent = (): Round[] => this.#sent;
    this.proxy = {
      ...{ isConnecting: false, isEnding: false, mayLockOut: () => false },
      releaseAll: () => this.#leave(0),
      get held() {
        return held();
      },
      get unanswered() {
        return sent();
      },
    } as unknown as Proxy;
  }

  get isOver(): boolean {
    return this.replies.length > 0;
  }

  start(order: NewOrder): void {
    this.#order = order;
    this.#turns = this.shop.turns?.() ?? 0;
    const cut = (): void => this.#end('cut');
    const { isInTransaction = false } = this.shop;
    const release = (): void => this.#leave(this.#held.length - 1);
    // The last round commits.
    const isOpen = (): boolean => isInTransaction && !this.isOver;
    const connection = {
      ...{ canBegin: false, mayKeepLocks: false, begin: release, release, cut },
      get isInTransaction() {
        return isOpen();
      },
    };
    this.#held = (this.shop.statements ?? ['UPDATE orders']).map((statement) =>
      Object.assign(new Round(), {
        connection,
        isInTransaction,
        ...{ isAnswered: true, rows: 1 },
        statements: [statement],
      }),
    );
  }

  async pass(): Promise<void> {
    this.#turns -= 1;
  }

  async kill(): Promise<void> {
    this.#end('kill');
  }

  #end(end: 'cut' | 'kill'): void {
    this.shop.onEnd?.(end);
    this.#held = [];
    this.replies = [{ isAcknowledged: false, code: 'its process ended' }];
  }

  /** Sends the rounds before the last ones. */
  #leave(last: number): void {
    if (this.isOver) return;
    this.#sent = this.#held.splice(0, this.#held.length - last);
    queueMicrotask(() => (this.#sent = []));
    if (last > 0) return;
    this.shop.credit?.(this.#order);
    this.replies = [{ isAcknowledged: true }];
  }
}

function subjectOf(shop: Shop): Subject {
  let orders = 0;
  const recovery = (name: string) => (order: NewOrder) => ({
    name,
    run: async () => shop.credit?.(order, name),
  });
  return {
    changes: new Changes(),
    ...{ hasConnections: true, hasEffects: true },
    alone: shop.alone ?? { paid: true, effects: 1 },
    total: shop.total && (async () => shop.total!()),
    newOrder: async () => {
      orders += 1;
      return { reference: `order-${orders}`, amount: 1, currency: 'XOF', tenant: null };
    },
    truth: async (order) => shop.truth?.(order) ?? { paid: true, effects: 1 },
    questionAnswered: async () => undefined,
    parties: async (count) => Array.from({ length: count }, () => new Process(shop)),
    nameOf: () => 'A',
    recoveries: (order) => ['the next delivery', 'reconcile'].map((name) => recovery(name)(order)),
    close: async () => undefined,
    ...shop.subject,
  };
}

async function exploreShop(shop: Shop, options: ExploreOptions = {}) {
  const open = async () => subjectOf(shop);
  const report = await explore('postgres://127.0.0.1:1/shop', open, options);
  return { ...report, faults: report.findings.map(({ fault }) => fault) };
}

it('tries as many sequences if a process gets no processor for seconds', async () => {
  const statements = ['UPDATE orders', 'UPDATE orders'];
  const quiet = await exploreShop({ statements }, { only: 'orders' });
  let deliveries = 0;
  const turns = (): number => (deliveries++ === 0 ? 10 : 0);
  const busy = await exploreShop({ statements, turns }, { only: 'orders' });
  expect(busy.orders).toEqual(quiet.orders);
});

it('lists each fault that the cuts find, once', async () => {
  // Each try has an order of its own.
  const effects = [0, 3, 3, 2];
  const truth = ({ reference }: NewOrder): Truth => {
    const [, number] = reference.split('-');
    return { paid: true, effects: effects[Number(number) - 1] ?? 1 };
  };
  const { faults } = await exploreShop({ truth }, { only: 'cuts' });
  expect(faults).toEqual([
    expect.stringMatching(/^The effect is lost/),
    expect.stringMatching(/^The effect happens 3 times/),
    expect.stringMatching(/^The effect happens 2 times/),
  ]);
});

it.each([0, 2])('tells apart that a single delivery already has %s effects', async (effects) => {
  const alone = { paid: true, effects };
  const { faults } = await exploreShop({ alone, truth: () => alone });
  expect(faults).toEqual([`A single delivery has ${effects} effects, but must have 1.`]);
});

it.each([
  ['increases, such as a balance', (stored: number) => stored + 10],
  ['decreases, such as a stock', (stored: number) => stored - 1],
])('accepts a total that each credit %s', async (_, move) => {
  let stored = 100;
  const credited = new Set<string>();
  const credit = ({ reference }: NewOrder): void => {
    if (!credited.has(reference)) stored = move(stored);
    credited.add(reference);
  };
  const { faults, notTested } = await exploreShop({ credit, total: () => stored });
  expect({ faults, notTested }).toEqual({ faults: [], notTested: [] });
});

it.each([
  ['is lost', 1],
  ['happens twice', 3],
])('finds that a write of two orders that share a row %s', async (_, writes) => {
  let stored = 0;
  // An order alone shows by how much a credit moves the total.
  const credit = (_: NewOrder, recovery?: string): void =>
    void (stored += recovery === undefined ? writes / 2 : 1);
  const { faults } = await exploreShop({ credit, total: () => stored }, { only: 'orders' });
  expect(faults).toEqual([expect.stringMatching(/^Two orders pay into one row/)]);
});

it('asks for the state of the order that was acknowledged, if several orders share a row', async () => {
  let stored = 0;
  const truth = ({ reference }: NewOrder): Truth => ({
    paid: reference !== 'order-2',
    effects: 1,
  });
  const { faults, findings } = await exploreShop(
    { truth, credit: () => void (stored += 1), total: () => stored },
    { replay: 6 },
  );
  expect(faults).toEqual([expect.stringMatching(/^A delivery is acknowledged before the commit/)]);
  expect(findings[0]!.story.join()).toMatch(/200 +the database says unpaid/);
});

it('says that it left sequences out, if a delivery has more rounds than a number can hold', async () => {
  const statements = Array.from({ length: 40 }, () => 'UPDATE orders');
  // The first sequence has a fault, so that no other one is tried.
  const truth = (): Truth => ({ paid: true, effects: 2 });
  const { orders, notTested } = await exploreShop({ statements, truth }, { only: 'orders' });
  expect(orders).toEqual({ tried: 1, left: 1 });
  expect(notTested[0]).toMatch(/or more orders, after 1: a fixed limit/);
});

it('leaves time for the cuts, if the sequences need more than the time limit', async () => {
  let time = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => time);
  onTestFinished(() => clock.mockRestore());
  const statements = Array.from({ length: 8 }, () => 'UPDATE orders');
  const credit = (): void => void (time += 1);
  const { orders, cuts, notTested } = await exploreShop({ statements, credit }, { timeLimit: 40 });
  expect(orders.left).toBeGreaterThan(0);
  expect(cuts.tried).toBeGreaterThan(0);
  expect(notTested).toContain(`the cuts after the first ${cuts.tried}: the time limit`);
});

it.each([
  [1, 'cut', 'the connection is cut before', ['the next delivery', 'reconcile']],
  [3, 'cut', 'the connection is cut, and the answer is lost', ['the next delivery', 'reconcile']],
  [5, 'kill', 'the process is killed before', ['reconcile', 'the next delivery']],
  [7, 'kill', 'the process is killed, and the answer is lost', ['reconcile', 'the next delivery']],
] as const)('cuts a round off in four ways, of which number %d is: %s', async (...row) => {
  const [replay, end, text, recoveries] = row;
  const ends: string[] = [];
  const credit = (_: NewOrder, recovery?: string): void => void (recovery && ends.push(recovery));
  const { findings } = await exploreShop({ credit, onEnd: (each) => ends.push(each) }, { replay });
  expect(ends).toEqual([end, ...recoveries]);
  expect(findings[0]!.story[0]).toMatch(new RegExp(`${text}$`));
});

it('kills a process that has no connection to cut, and names what nothing counts', async () => {
  let isClosed = false;
  const close = async (): Promise<void> => {
    await setImmediate();
    isClosed = true;
  };
  const subject = { hasConnections: false, hasEffects: false, close };
  const { cuts, notTested } = await exploreShop({ subject });
  expect(cuts.tried).toBe(2);
  expect(notTested).toEqual([
    'further writes: nothing counts the effects of a reference',
    'two orders that share a row: nothing reads a total',
  ]);
  expect(isClosed).toBe(true);
});

it('refuses a total that no credit moves, and ends its processes', async () => {
  const close = vi.fn(async () => undefined);
  const trying = exploreShop({ total: () => 5, subject: { close } }, { replay: 6 });
  await expect(trying).rejects.toThrow(/A credit does not move the total/);
  expect(close).toHaveBeenCalledOnce();
});

/** Opens a module in a process that answers so. */
function openModule(caller: object): Promise<ModuleSubject> {
  const process = {
    ...{ proxy: { wasUsed: true, notes: new Set() }, exports: ['createOrder'] },
    ...{ call: async () => true, deliver: async () => ({ isAcknowledged: true }) },
    ...caller,
  };
  const start = vi.spyOn(Caller, 'start').mockImplementation(async () => {
    // Each process starts later than the one before.
    for (let left = start.mock.calls.length; left > 1; left -= 1) await setImmediate();
    return { ...process } as unknown as Caller;
  });
  onTestFinished(() => start.mockRestore());
  const databaseUrl = 'postgres://127.0.0.1:1/shop';
  return ModuleSubject.open({ module: 'shop.mjs', databaseUrl }, readDatabase(databaseUrl));
}

it('delivers again if a delivery fails, such as one that a SERIALIZABLE database refuses', async () => {
  const deliver = vi.fn(async () => ({ isAcknowledged: deliver.mock.calls.length === 3 }));
  await expect(openModule({ deliver })).resolves.toBeInstanceOf(ModuleSubject);
});

it('ends the spare process too, which may still be starting', async () => {
  const close = vi.fn(async () => undefined);
  const subject = await openModule({ close });
  await subject.parties(1);
  await subject.close();
  expect(close).toHaveBeenCalledTimes(3);
});

it('lets a module close its connections before it ends the process', async () => {
  const ends: unknown[] = [];
  const call = async (name: string): Promise<void> => void ends.push(name);
  const caller = { isAlive: true, call, kill: async () => void ends.push('kill') };
  await Caller.prototype.close.call(caller as unknown as Caller);
  expect(ends).toEqual(['close', 'kill']);
});

it('holds few more rounds of a process that has replied: a worker may never stop', async () => {
  const proxy = { hold: vi.fn(), holdFewMore: vi.fn() };
  const caller = { proxy, deliver: async () => undefined } as unknown as Caller;
  const order = { reference: 'order-1', amount: 1, currency: 'XOF', tenant: null };
  Caller.prototype.start.call(caller, order);
  expect(proxy.holdFewMore).not.toHaveBeenCalled();
  await setImmediate();
  expect(proxy.holdFewMore).toHaveBeenCalledOnce();
});

it.each([
  ['counts the effects that a module exports', ['createOrder', 'effects'], 2],
  ['counts no effects of a module that exports none', ['createOrder'], undefined],
])('%s', async (_, exports, effects) => {
  const answers: Readonly<Record<string, unknown>> = { find: true, effects: '2' };
  const subject = await openModule({ exports, call: async (name: string) => answers[name] });
  expect(subject.alone).toEqual({ paid: true, effects });
  expect(subject.hasEffects).toBe(effects !== undefined);
});

/** Starts a try of parties that have these rounds. */
function tryRounds(
  proxies: readonly Partial<Record<'held' | 'unanswered', Round[]>>[],
  pass: () => void,
  subject: Partial<Subject> = {},
) {
  const parties = proxies.map((rounds) => {
    const proxy = { ...{ held: [], unanswered: [], mayLockOut: () => true }, ...rounds };
    const party = { ...{ replies: [], isOver: false, proxy }, start: () => undefined };
    return { ...party, pass: async () => pass() } as unknown as Party;
  });
  const order = { reference: 'order-1', amount: 1, currency: 'XOF', tenant: null };
  return { parties, attempt: new Attempt(subjectOf({ subject }), [order], parties) };
}

it('waits for every round that a process sends through another connection', async () => {
  const held = [new Round()];
  const { attempt } = tryRounds([{ held }], () => {
    if (held.length < 3) held.push(new Round());
  });
  expect(await attempt.ready()).toHaveLength(1);
  expect(held).toHaveLength(3);
});

it('tells the end of a round that has begun as its commit', () => {
  const round = new Round(['UPDATE orders']);
  const { attempt, parties } = tryRounds([{ held: [round] }], () => undefined);
  attempt.tellRound(parties[0]!);
  round.isBegun = true;
  attempt.tellRound(parties[0]!);
  expect(writeStory(attempt.lines)).toEqual(['A  UPDATE orders', 'A  commits']);
});

it('says once that a round waits, although it still waits after the end of a deadlock', async () => {
  const connection = { isInTransaction: true } as Round['connection'];
  const [blocked, ended] = ['UPDATE orders', 'UPDATE stock'].map((statement) =>
    Object.assign(new Round([statement]), { connection }),
  ) as [Round, Round];
  const next: Round[] = [];
  const unanswered = [ended];
  // The database ends one of two rounds that wait for each other.
  const until = async (isMet: () => boolean): Promise<boolean> => {
    next.push(...unanswered.splice(0));
    return isMet();
  };
  const { attempt, parties } = tryRounds(
    [{ unanswered: [blocked] }, { unanswered, held: next }],
    () => undefined,
    { changes: { until } as unknown as Changes },
  );
  const line = { who: 'A', party: parties[0]!, round: blocked, notes: [] };
  attempt.lines.push(line);
  expect(await attempt.ready()).toEqual([parties[1]]);
  expect(line.notes).toEqual(['waits']);
});

it.each([
  ['names a transaction that stays open after the reply', true, /^A transaction stays open/],
  ['accepts a transaction that has ended at the reply', false, /^undefined$/],
])('%s', async (_, mayKeepLocks, sentence) => {
  let time = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (time += 200));
  onTestFinished(() => clock.mockRestore());
  const { attempt } = tryRounds([], () => undefined);
  const connection = { mayKeepLocks } as Round['connection'];
  const round = Object.assign(new Round(['UPDATE orders']), { connection, isInTransaction: true });
  attempt.lines.push({ who: 'A', round, notes: [] });
  await attempt.end();
  expect(String(faultOf(attempt, { paid: true, effects: 1 })?.sentence)).toMatch(sentence);
});

it('says of no commit that it waits, however slow the disk is', async () => {
  const connection = { isInTransaction: true } as Round['connection'];
  const commit = Object.assign(new Round(['COMMIT']), { connection });
  const [unanswered, held]: Round[][] = [[commit], []];
  const until = async (isMet: () => boolean): Promise<boolean> => {
    held!.push(...unanswered!.splice(0).map(() => new Round()));
    commit.isAnswered = true;
    return isMet();
  };
  const changes = { until } as unknown as Changes;
  const { attempt, parties } = tryRounds(
    [{ unanswered: unanswered!, held: held! }],
    () => undefined,
    {
      changes,
    },
  );
  const line = { who: 'A', party: parties[0]!, round: commit, notes: [] };
  attempt.lines.push(line);
  expect(await attempt.ready()).toEqual(parties);
  expect(line.notes).toEqual([]);
});

it.each([
  ['INSERT INTO payments', 'both insert, and nothing makes the row unique'],
  ['UPDATE orders', 'the write does not require an unpaid order'],
  ['UPDATE orders; INSERT INTO receipts', 'the write does not require an unpaid order'],
  ['SELECT credit(?)', 'the write does not require an unpaid order'],
])('names the condition that two credits by %s lack', async (statements, lack) => {
  const shop: Shop = { statements: statements.split('; '), credited: 1 };
  const { faults } = await exploreShop(shop, { only: 'orders' });
  expect(faults).toEqual([`Two deliveries both credit: ${lack}.`]);
});

it('names a delivery that writes on without a row, although another one credits rightly', () => {
  const { attempt, parties } = tryRounds([{}, {}], () => undefined);
  const writes = [
    ['A', 'UPDATE orders', 1],
    ['B', 'UPDATE orders', 0],
    ['B', 'INSERT INTO receipts', 1],
  ] as const;
  for (const [who, statement, rows] of writes) {
    const party = Object.assign(parties[who === 'A' ? 0 : 1]!, { credited: 1 });
    attempt.lines.push({
      who,
      party,
      round: Object.assign(new Round([statement]), { rows }),
      notes: [],
    });
  }
  const fault = faultOf(attempt, { paid: true, effects: 2 });
  expect(fault?.sentence).toMatch(/one writes on, although its first write changed no row/);
});

it('finds an order that the next delivery leaves unpaid, although reconcile credits it', async () => {
  const paid = new Set<string>();
  const credit = ({ reference }: NewOrder, recovery = 'reconcile'): void =>
    void (recovery === 'reconcile' && paid.add(reference));
  const truth = ({ reference }: NewOrder): Truth => ({ paid: paid.has(reference), effects: 1 });
  const { faults } = await exploreShop({ credit, truth }, { only: 'cuts' });
  expect(faults).toEqual([expect.stringMatching(/^The order stays unpaid/)]);
});

it('finds by the cuts alone that a delivery without a cut is acknowledged before its commit', async () => {
  const paid = new Set<string>();
  const credit = ({ reference }: NewOrder, recovery?: string): void =>
    void (recovery !== undefined && paid.add(reference));
  const truth = ({ reference }: NewOrder): Truth => ({ paid: paid.has(reference), effects: 1 });
  const { faults } = await exploreShop({ credit, truth }, { only: 'cuts' });
  expect(faults).toEqual([expect.stringMatching(/^A delivery is acknowledged before the commit/)]);
});

it('gives a read a place among the writes in a transaction, whose view it may fix', async () => {
  const statements = ['SELECT paid FROM orders', 'SELECT paid FROM orders', 'UPDATE orders'];
  const tried = async (isInTransaction: boolean): Promise<number> =>
    (await exploreShop({ statements, isInTransaction }, { only: 'orders' })).orders.tried;
  expect(await tried(true)).toBeGreaterThan(await tried(false));
});

it('tells a story in twenty lines, without values and control characters', () => {
  const sql = "UPDATE orders SET paid = 'it''s', body = $$secret$$ WHERE id = 42 -- \u001b[2J";
  const lines = Array.from({ length: 25 }, (_, number) => ({
    ...{ who: 'A', round: new Round([`${sql}${number}\n`]), notes: [] },
  }));
  const story = writeStory(lines);
  expect(story).toHaveLength(20);
  expect(story[5]).toBe('   … 6 more rounds');
  expect(story[0]).toBe('A  UPDATE orders SET paid = ?, body = ? WHERE id = ?');
  const columns = [sql, 'COMMIT'].map((each) => ({
    ...lines[0]!,
    round: new Round([each]),
    notes: ['waits'],
  }));
  const [first, second] = writeStory(columns);
  expect(second!.indexOf('waits')).toBe(first!.indexOf('waits'));
  const [coloured] = writeStory([{ ...lines[0]!, round: new Round(['SELECT \u001b[2J a']) }]);
  expect(coloured).toBe('A  SELECT [? a');
});

it('registers two tests with time for processes beside the limit, and refuses wrong options', () => {
  const test = vi.fn();
  const options = { test, module: 'shop.mjs', databaseUrl: 'postgres://127.0.0.1:1/shop' };
  for (const wrong of [{ callers: 4 }, { tenant: '' }, { module: '' }, { modul: 'shop.mjs' }])
    expect(() => testSchedules({ ...options, ...wrong })).toThrow(TypeError);
  expect(test).not.toHaveBeenCalled();
  testSchedules({ ...options, timeLimit: 90_000 });
  expect(test).toHaveBeenCalledTimes(2);
  for (const [, , timeout] of test.mock.calls) expect(timeout).toBeGreaterThan(90_000);
});
