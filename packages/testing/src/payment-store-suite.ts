/** Tests your own payment store. */
import assert from 'node:assert/strict';
import { inInboxes, type InboxUnderTest } from './inbox-scenarios.js';
import { newKey, PATIENCE, pause, runOptions, within, type Run } from './store-steps.js';
import { globalRunner, type TestRunner } from './test-runner.js';

type Work<Tx> = (tx: Tx) => Promise<void>;

/** `PaymentStore` of @paylink/payments. */
export interface StoreUnderTest<Tx = undefined> {
  isDone(key: string): Promise<boolean>;
  run(key: string, work: Work<Tx>, options: Run): Promise<'done' | 'duplicate' | 'in_progress'>;
  readonly inbox?: InboxUnderTest | undefined;
}

/**
 * `transactional`: the work's writes and the mark commit together. `lease`: runs exclude each other
 * across processes. `memory`: runs exclude each other within one process.
 */
export type StoreCapability = 'transactional' | 'lease' | 'memory';

/** A new store for one test. */
export interface CreatedStore<Tx = undefined> {
  readonly store: StoreUnderTest<Tx>;
  /** A second store on the same database, as in another process. Not needed for `memory`. */
  readonly other?: StoreUnderTest<Tx> | undefined;
  /** Writes a row under `id` through `tx`. Needed for `transactional`. */
  readonly write?: ((tx: Tx, id: string) => Promise<unknown>) | undefined;
  /** Counts the rows under `id`, outside any transaction. Needed for `transactional`. */
  readonly count?: ((id: string) => Promise<number>) | undefined;
  /** Called after the test, even if the test failed. */
  readonly close?: (() => unknown) | undefined;
}

export interface PaymentStoreSuiteOptions {
  readonly capability: StoreCapability;
  /**
   * Set for an engine with a single connection (an embedded database). Work on one key then waits
   * for work on another key. Default false.
   */
  readonly oneAtATime?: boolean | undefined;
  /** Set to test the store's inbox too. Default false. */
  readonly inbox?: boolean | undefined;
  /** Default: the globals `describe` and `it`. */
  readonly runner?: TestRunner | undefined;
}

export type Scenario = <Tx>(created: CreatedStore<Tx>) => Promise<void>;

/** Milliseconds to wait for an event that must not happen. */
const QUIET_TIME = 60;

/**
 * Registers the tests that a store must pass before it handles money: the contract of
 * `PaymentStore` of @paylink/payments.
 *
 * @param create called once per test. The keys are always new, so a store may keep the data of
 *   earlier tests and runs.
 * @throws TypeError without a runner and without the globals `describe` and `it`
 */
export function testPaymentStore<Tx>(
  name: string,
  create: () => CreatedStore<Tx> | Promise<CreatedStore<Tx>>,
  { capability, oneAtATime = false, inbox = false, runner }: PaymentStoreSuiteOptions,
): void {
  const { describe, it } = runner ?? globalRunner('testPaymentStore');
  const scenarios = {
    ...always,
    ...(oneAtATime ? onOneConnection : onManyConnections),
    ...(inbox ? inInboxes : {}),
    ...(capability === 'memory' ? {} : acrossProcesses),
    ...(capability === 'transactional' ? inTransactions : {}),
  };
  describe(name, () => {
    for (const [title, scenario] of Object.entries(scenarios)) {
      it(title, async () => {
        const created = await create();
        try {
          await scenario(created);
        } finally {
          await created.close?.();
        }
      });
    }
  });
}

const succeed = (): Promise<void> => Promise.resolve();

/** Work that counts its runs, and the most runs at the same time. */
function countedWork(milliseconds = 0) {
  const counts = { runs: 0, running: 0, mostAtOnce: 0 };
  const work = async (): Promise<void> => {
    counts.runs++;
    counts.mostAtOnce = Math.max(counts.mostAtOnce, ++counts.running);
    await pause(milliseconds);
    counts.running--;
  };
  return { counts, work };
}

/** Returns a run's result, or "rejected". */
function ending(run: Promise<string>): Promise<string> {
  return run.catch(() => 'rejected');
}

function runOnce<Tx>(
  store: StoreUnderTest<Tx>,
  key: string,
  work: Work<Tx> = succeed,
): Promise<string> {
  return within('a run', store.run(key, work, runOptions(key)));
}

/** Repeats the run until the key is free, because an aborted run may take a moment to end. */
async function runWhenFree<Tx>(
  store: StoreUnderTest<Tx>,
  key: string,
  work: Work<Tx> = succeed,
  turn?: string,
): Promise<string> {
  const end = performance.now() + PATIENCE;
  for (;;) {
    const result = await within('a run', store.run(key, work, runOptions(key, { turn })));
    if (result !== 'in_progress' || performance.now() > end) return result;
    await pause(10);
  }
}

/** A run whose work waits for the test. */
interface HeldRun {
  readonly key: string;
  readonly ended: Promise<string>;
  readonly abort: () => void;
  readonly finish: () => void;
  readonly fail: (error: unknown) => void;
}

/** Starts a run of a new key. Resolves when the work calls `hold`. */
async function startRun<Tx>(
  store: StoreUnderTest<Tx>,
  work: (tx: Tx, hold: () => Promise<void>) => Promise<void> = (_, hold) => hold(),
): Promise<HeldRun> {
  const key = newKey();
  const controller = new AbortController();
  let start!: () => void;
  let finish!: () => void;
  let fail!: (error: unknown) => void;
  const started = new Promise<void>((resolve) => (start = resolve));
  const end = new Promise<void>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  const hold = (): Promise<void> => {
    start();
    return end;
  };
  const run = store.run(
    key,
    (tx) => work(tx, hold),
    runOptions(key, { signal: controller.signal }),
  );
  const ended = ending(run);
  await within('the start of the work', started);
  return { key, ended, abort: () => controller.abort(), finish, fail };
}

async function expectRejected({ ended }: HeldRun): Promise<void> {
  assert.equal(await within('the end of an aborted run', ended), 'rejected');
}

async function expectDone<Tx>(
  store: StoreUnderTest<Tx>,
  key: string,
  done: boolean,
  reason = done ? 'the work succeeded' : 'the work did not succeed',
): Promise<void> {
  const answer = await within('isDone', store.isDone(key));
  assert.equal(answer, done, `isDone must be ${done}: ${reason}`);
}

/** Checks that a run left nothing behind: the key has no mark and is free. */
async function expectUntouched<Tx>(store: StoreUnderTest<Tx>, key: string): Promise<void> {
  await expectDone(store, key, false);
  const { counts, work } = countedWork();
  const result = await runWhenFree(store, key, work);
  assert.deepEqual([result, counts.runs], ['done', 1], 'a later run of the key must do the work');
  await expectDone(store, key, true);
}

async function expectThrown<Tx>(
  store: StoreUnderTest<Tx>,
  error: unknown,
  work: Work<Tx>,
): Promise<void> {
  const key = newKey();
  const run = store.run(key, work, runOptions(key)).catch((reason: unknown) => reason);
  assert.ok(
    (await within('a run whose work throws', run)) === error,
    'the run must reject with the same object that the work threw, neither wrapped nor copied',
  );
  await expectUntouched(store, key);
}

const always: Readonly<Record<string, Scenario>> = {
  async 'runs the work of a new key and marks the key as done'({ store }) {
    const key = newKey();
    await expectDone(store, key, false, 'the key is new');
    const { counts, work } = countedWork();
    assert.deepEqual([await runOnce(store, key, work), counts.runs], ['done', 1]);
    await expectDone(store, key, true);
  },

  async 'reports a replay as a duplicate without running the work again'({ store }) {
    const key = newKey();
    assert.equal(await runOnce(store, key), 'done');
    const { counts, work } = countedWork();
    for (let time = 0; time < 3; time++) assert.equal(await runOnce(store, key, work), 'duplicate');
    assert.equal(counts.runs, 0, 'a duplicate must not run the work');
    await expectDone(store, key, true);
  },

  async 'rejects with the error that the work throws, and does not mark the key'({ store }) {
    const errors = [
      new Error('the work threw'),
      Object.freeze(new TypeError('frozen')),
      { code: 'not an Error' },
    ];
    for (const error of errors) {
      await expectThrown(store, error, async () => {
        await pause(1);
        // eslint-disable-next-line @typescript-eslint/only-throw-error -- handlers throw such values too
        throw error;
      });
    }
  },

  async 'rejects with an error that the work throws before its first await'({ store }) {
    const error = new Error('at once');
    await expectThrown(store, error, () => {
      throw error;
    });
  },

  async 'does not mark a key as done while its work runs'({ store }) {
    const { key, ended, finish } = await startRun(store);
    // On a single connection, isDone answers only after the work.
    const early = await Promise.race([
      store.isDone(key),
      pause(QUIET_TIME).then(() => 'no answer yet'),
    ]);
    finish();
    assert.notEqual(early, true, 'isDone must not be true yet: a crash would lose the work');
    assert.equal(await within('a run', ended), 'done');
    await expectDone(store, key, true);
  },

  async 'runs the work of a key once for many concurrent runs'({ store }) {
    for (let round = 0; round < 4; round++) {
      const key = newKey();
      const { counts, work } = countedWork(5);
      const runs = Array.from({ length: 20 }, () => store.run(key, work, runOptions(key)));
      const results = await within('20 concurrent runs', Promise.all(runs));
      const others = results.filter((result) => result !== 'done');
      assert.equal(others.length, 19, 'exactly one run must be done');
      assert.deepEqual(
        others.filter((result) => result !== 'duplicate' && result !== 'in_progress'),
        [],
        'the other runs must be duplicate or in_progress',
      );
      await expectDone(store, key, true);
      const last = await runWhenFree(store, key, work);
      assert.equal(last, 'duplicate', 'the runs must not leave a lease behind');
      assert.equal(counts.runs, 1, 'the work must run exactly once');
    }
  },

  async 'runs the work of a key again after a failure, but never twice at once'({ store }) {
    const key = newKey();
    const { counts, work } = countedWork(2);
    let succeeded = 0;
    const attempts = Array.from({ length: 10 }, (_, index) =>
      ending(
        store.run(
          key,
          async () => {
            await work();
            if (index < 3) throw new Error('not yet');
            succeeded++;
          },
          runOptions(key),
        ),
      ),
    );
    await within('10 concurrent runs', Promise.all(attempts));
    await runWhenFree(store, key, async () => {
      succeeded++;
    });
    assert.equal(counts.mostAtOnce, 1, 'the work of one key must never run twice at once');
    assert.equal(succeeded, 1, 'the work must succeed exactly once');
    await expectDone(store, key, true);
  },

  async 'does not run the work if the signal is already aborted'({ store }) {
    const key = newKey();
    const { counts, work } = countedWork();
    const run = store.run(key, work, runOptions(key, { signal: AbortSignal.abort() }));
    const result = await within('the end of an aborted run', ending(run));
    assert.deepEqual([result, counts.runs], ['rejected', 0]);
    await expectUntouched(store, key);
  },

  async 'rejects on abort even if the work never settles'({ store }) {
    const run = await startRun(store);
    run.abort();
    await expectRejected(run);
    await expectUntouched(store, run.key);
  },

  async 'rejects on abort if the work obeys the signal'({ store }) {
    const run = await startRun(store);
    run.fail(new Error('the work obeyed the signal'));
    run.abort();
    await expectRejected(run);
    await expectUntouched(store, run.key);
  },

  async 'does not mark a key whose work succeeds after the abort'({ store }) {
    const run = await startRun(store);
    run.abort();
    await expectRejected(run);
    run.finish();
    await pause(QUIET_TIME);
    await expectUntouched(store, run.key);
  },

  async 'reports done only with a mark if the abort and the success coincide'({ store }) {
    for (const first of ['abort', 'finish'] as const) {
      const { key, ended, ...run } = await startRun(store);
      run[first]();
      run.abort();
      run.finish();
      const result = await within('the end of an aborted run', ended);
      await pause(QUIET_TIME);
      if (result === 'done') await expectDone(store, key, true, 'the run reported done');
      else await expectUntouched(store, key);
    }
  },

  async 'ignores an error that the work throws after the abort'({ store }) {
    const unhandled: unknown[] = [];
    const record = (error: unknown): void => {
      unhandled.push(error);
    };
    process.on('unhandledRejection', record);
    try {
      const run = await startRun(store);
      run.abort();
      await expectRejected(run);
      run.fail(new Error('too late'));
      await pause(QUIET_TIME);
      await expectUntouched(store, run.key);
    } finally {
      process.off('unhandledRejection', record);
    }
    assert.deepEqual(unhandled, [], 'an unhandled rejection would end the process');
  },

  async 'ends a waiting run on abort without running its work'({ store }) {
    const first = await startRun(store);
    const controller = new AbortController();
    const { counts, work } = countedWork();
    const waiting = store.run(
      first.key,
      work,
      runOptions(first.key, { signal: controller.signal }),
    );
    controller.abort();
    const result = await within('the end of an aborted run', ending(waiting));
    assert.ok(
      result === 'rejected' || result === 'in_progress',
      `the waiting run must reject or be in_progress, not ${result}`,
    );
    first.finish();
    assert.equal(await within('the first run', first.ended), 'done', 'the first run must go on');
    await pause(QUIET_TIME);
    assert.equal(counts.runs, 0, 'the work of an aborted run must never start');
  },

  async 'runs two keys of one turn one after the other, each with its own work'({ store }) {
    const keys = [newKey(), newKey()];
    const turn = newKey();
    const { counts, work } = countedWork(5);
    const ran: string[] = [];
    const runs = keys.map((key) =>
      runWhenFree(
        store,
        key,
        async () => {
          await work();
          ran.push(key);
        },
        turn,
      ),
    );
    assert.deepEqual(await Promise.all(runs), ['done', 'done']);
    assert.equal(counts.mostAtOnce, 1, 'the works of one turn must never run at once');
    assert.deepEqual(ran.sort(), keys.sort(), 'the work of each key must run once');
  },

  async 'distinguishes keys that differ in one character, among a hundred others'({ store }) {
    const key = newKey();
    const other = (character: string | undefined): string => (character === '0' ? '1' : '0');
    const similar = [0, 31, 32, 62, 63].map(
      (at) => key.slice(0, at) + other(key[at]) + key.slice(at + 1),
    );
    const keys = [key, ...Array.from({ length: 100 }, newKey)];
    for (const each of keys) assert.equal(await runOnce(store, each), 'done');
    for (const each of similar) await expectDone(store, each, false, 'only a similar key is done');
    for (const each of keys) await expectDone(store, each, true);
  },

  async 'does not disturb the work of another key on abort'({ store }) {
    const run = await startRun(store);
    const other = newKey();
    const following = store.run(other, () => pause(QUIET_TIME), runOptions(other));
    await pause(QUIET_TIME / 4);
    run.abort();
    await expectRejected(run);
    assert.equal(await within('the run of another key', following), 'done');
    await expectUntouched(store, run.key);
    await expectDone(store, other, true);
  },
};

const onManyConnections: Readonly<Record<string, Scenario>> = {
  async 'runs the work of different keys at the same time'({ store }) {
    const slow = await startRun(store);
    const quick = newKey();
    try {
      assert.equal(await runOnce(store, quick), 'done');
      await expectDone(store, quick, true);
    } finally {
      slow.finish();
    }
    assert.equal(await within('a run', slow.ended), 'done');
    await expectDone(store, slow.key, true);
  },
};

const onOneConnection: Readonly<Record<string, Scenario>> = {
  async 'runs the work of ten keys that wait for one connection'({ store }) {
    const keys = Array.from({ length: 10 }, newKey);
    const runs = keys.map((key) => store.run(key, () => pause(2), runOptions(key)));
    const results = await within('10 runs of different keys', Promise.all(runs));
    assert.deepEqual(
      results,
      keys.map(() => 'done'),
    );
    for (const key of keys) await expectDone(store, key, true);
  },
};

const acrossProcesses: Readonly<Record<string, Scenario>> = {
  async 'runs the work of a key once for runs in two processes'(created) {
    const [first, second] = twoStores(created);
    const key = newKey();
    const { counts, work } = countedWork(20);
    const runs = Array.from({ length: 10 }, (_, index) =>
      (index % 2 === 0 ? first : second).run(key, work, runOptions(key)),
    );
    const results = await within('10 runs in two stores', Promise.all(runs));
    const done = results.filter((result) => result === 'done');
    assert.equal(done.length, 1, 'exactly one run must be done');
    assert.equal(counts.runs, 1, 'the work must run exactly once');
    for (const store of [first, second]) {
      await expectDone(store, key, true);
      assert.equal(await runWhenFree(store, key), 'duplicate');
    }
  },

  async 'never runs two keys of one turn at once in two processes'(created) {
    const turn = newKey();
    const { counts, work } = countedWork(10);
    const runs = twoStores(created).map((store) => runWhenFree(store, newKey(), work, turn));
    assert.deepEqual(await Promise.all(runs), ['done', 'done']);
    assert.equal(counts.mostAtOnce, 1, 'the works of one turn must never run at once');
  },
};

const inTransactions: Readonly<Record<string, Scenario>> = {
  async 'commits the writes of the work with the mark'<Tx>(created: CreatedStore<Tx>) {
    const { store, write, count } = transactional(created);
    const key = newKey();
    const work = async (tx: Tx): Promise<void> => {
      await write(tx, key);
    };
    assert.equal(await runOnce(store, key, work), 'done');
    assert.equal(await count(key), 1, 'the write of successful work must be committed');
    assert.equal(await runOnce(store, key, work), 'duplicate');
    assert.equal(await count(key), 1, 'a duplicate must not write');
  },

  async 'rolls back the writes of work that throws'<Tx>(created: CreatedStore<Tx>) {
    const { store, write, count } = transactional(created);
    const key = newKey();
    const work = async (tx: Tx): Promise<void> => {
      await write(tx, key);
      throw new Error('the work threw');
    };
    assert.equal(await within('a run', ending(store.run(key, work, runOptions(key)))), 'rejected');
    assert.equal(await count(key), 0, 'the write of work that threw must be rolled back');
    await expectUntouched(store, key);
  },

  async 'rolls back every write of aborted work, early or late'<Tx>(created: CreatedStore<Tx>) {
    const { store, write, count } = transactional(created);
    const id = newKey();
    let attempted!: () => void;
    const lateWrite = new Promise<void>((resolve) => (attempted = resolve));
    const run = await startRun(store, async (tx, hold) => {
      await write(tx, id);
      await hold();
      await Promise.resolve()
        .then(() => write(tx, id))
        .catch(() => undefined);
      attempted();
    });
    run.abort();
    await expectRejected(run);
    run.finish();
    await within('the late write', lateWrite);
    await pause(QUIET_TIME);
    assert.equal(await count(id), 0, 'every write of an aborted run must be rolled back');
    const again = async (tx: Tx): Promise<void> => {
      await write(tx, id);
    };
    assert.equal(await runWhenFree(store, run.key, again), 'done');
    assert.equal(await count(id), 1);
  },

  async 'either commits a write that the work does not await, or rejects'<Tx>(
    created: CreatedStore<Tx>,
  ) {
    const { store, write, count } = transactional(created);
    const key = newKey();
    let writing: Promise<unknown> | undefined;
    const work = async (tx: Tx): Promise<void> => {
      writing = Promise.resolve(write(tx, key)).catch(() => undefined);
    };
    const result = await within('a run', ending(store.run(key, work, runOptions(key))));
    await writing;
    assert.equal(await count(key), result === 'done' ? 1 : 0, `the run was ${result}`);
    await expectDone(store, key, result === 'done');
  },
};

function twoStores<Tx>({
  store,
  other,
}: CreatedStore<Tx>): readonly [StoreUnderTest<Tx>, StoreUnderTest<Tx>] {
  assert.ok(other, 'create() must return `other`, a second store on the same database');
  return [store, other];
}

function transactional<Tx>({ store, write, count }: CreatedStore<Tx>) {
  assert.ok(write && count, 'create() must return `write` and `count`');
  return { store, write, count };
}
