/** Tests a payment store of your own. */
import assert from 'node:assert/strict';
import { inInboxes, type InboxUnderTest } from './inbox-scenarios.js';
import { newKey, of, PATIENCE, pause, within, type Run } from './store-steps.js';
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
 * across processes. `memory`: within one process.
 */
export type StoreCapability = 'transactional' | 'lease' | 'memory';

/** A new store for one test. */
export interface CreatedStore<Tx = undefined> {
  readonly store: StoreUnderTest<Tx>;
  /** A second store on the same database, as in another process. Not for `memory`. */
  readonly other?: StoreUnderTest<Tx> | undefined;
  /** Writes a row under `id` through `tx`. For `transactional`. */
  readonly write?: ((tx: Tx, id: string) => Promise<unknown>) | undefined;
  /** Counts the rows under `id`, outside any transaction. For `transactional`. */
  readonly count?: ((id: string) => Promise<number>) | undefined;
  /** Called after the test. */
  readonly close?: (() => unknown) | undefined;
}

export interface PaymentStoreSuiteOptions {
  readonly capability: StoreCapability;
  /**
   * Set for an engine with a single connection (an embedded database). Work on one key then waits
   * for work on another, and each must get its turn. Default false.
   */
  readonly oneAtATime?: boolean | undefined;
  /** Set to test the store's inbox too. Default false. */
  readonly inbox?: boolean | undefined;
  /** Default: the globals `describe` and `it`. */
  readonly runner?: TestRunner | undefined;
}

type Scenario = <Tx>(store: StoreUnderTest<Tx>) => Promise<void>;
type LargeScenario = <Tx>(created: CreatedStore<Tx>) => Promise<void>;

/** Milliseconds to wait for an event that must not happen. */
const A_WHILE = 60;

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
    ...(oneAtATime ? inTurn : sideBySide),
    ...(inbox ? inInboxes : {}),
  };
  describe(name, () => {
    for (const [title, scenario] of Object.entries(scenarios)) {
      it(title, () => withStore(create, ({ store }) => scenario(store)));
    }
    const more = { ...(capability === 'memory' ? {} : acrossProcesses) };
    if (capability === 'transactional') Object.assign(more, inTransactions);
    for (const [title, scenario] of Object.entries(more)) {
      it(title, () => withStore(create, scenario));
    }
  });
}

async function withStore<Tx>(
  create: () => CreatedStore<Tx> | Promise<CreatedStore<Tx>>,
  scenario: (created: CreatedStore<Tx>) => Promise<void>,
): Promise<void> {
  const created = await create();
  try {
    await scenario(created);
  } finally {
    await created.close?.();
  }
}

const nothing = (): Promise<void> => Promise.resolve();
const never = (): Promise<void> => new Promise(() => undefined);

/** Work that has begun when `begun` resolves. The test ends it. */
interface HeldWork {
  readonly work: () => Promise<void>;
  readonly begun: Promise<void>;
  readonly finish: () => void;
  readonly fail: (error: unknown) => void;
}

function heldWork(): HeldWork {
  let begin!: () => void;
  let finish!: () => void;
  let fail!: (error: unknown) => void;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const end = new Promise<void>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  const work = (): Promise<void> => {
    begin();
    return end;
  };
  return { work, begun, finish, fail };
}

/** Returns a run's result, or reports that it rejected. */
function ending(run: Promise<string>): Promise<string> {
  return run.catch(() => 'rejected');
}

/** Runs succeeding work until the key is free, because an aborted run may take a moment to end. */
async function runWhenFree<Tx>(
  store: StoreUnderTest<Tx>,
  key: string,
  work: Work<Tx> = nothing,
  turn?: string,
): Promise<string> {
  const end = performance.now() + PATIENCE;
  for (;;) {
    const result = await within('a run', store.run(key, work, of(key, { turn })));
    if (result !== 'in_progress' || performance.now() > end) return result;
    await pause(10);
  }
}

async function expectDone<Tx>(
  store: StoreUnderTest<Tx>,
  key: string,
  done: boolean,
  message?: string,
): Promise<void> {
  const reason = message ?? (done ? 'the work succeeded' : 'no work succeeded');
  const answer = await within('isDone', store.isDone(key));
  assert.equal(answer, done, `isDone must be ${done}: ${reason}`);
}

/** Checks that a run left nothing behind: no mark, and a free key. */
async function expectUntouched<Tx>(store: StoreUnderTest<Tx>, key: string): Promise<void> {
  await expectDone(store, key, false);
  let ran = 0;
  const result = await runWhenFree(store, key, async () => {
    ran++;
  });
  assert.deepEqual(
    [result, ran],
    ['done', 1],
    'the key must be free for another run, which does the work',
  );
  await expectDone(store, key, true);
}

const always: Readonly<Record<string, Scenario>> = {
  async 'says that a key without a run is not done'(store) {
    await expectDone(store, newKey(), false, 'the key is new');
  },

  async 'does the work of a new key, and leaves a mark'(store) {
    const key = newKey();
    let ran = 0;
    const result = await within(
      'a run',
      store.run(
        key,
        async () => {
          ran++;
        },
        of(key),
      ),
    );
    assert.deepEqual([result, ran], ['done', 1]);
    await expectDone(store, key, true);
  },

  async 'does nothing again that is done: a replay is a duplicate'(store) {
    const key = newKey();
    let ran = 0;
    const results: string[] = [];
    for (let time = 0; time < 4; time++) {
      results.push(
        await within(
          'a run',
          store.run(
            key,
            async () => {
              ran++;
            },
            of(key),
          ),
        ),
      );
    }
    assert.deepEqual([results, ran], [['done', 'duplicate', 'duplicate', 'duplicate'], 1]);
    await expectDone(store, key, true);
  },

  async 'leaves no mark when the work throws, and throws on the very same error'(store) {
    const errors = [
      new Error('the work threw'),
      Object.freeze(new TypeError('frozen')),
      { code: 'no Error at all' },
    ];
    for (const error of errors) {
      const key = newKey();
      const outcome = await within(
        'a run whose work throws',
        store
          .run(
            key,
            async () => {
              await pause(1);
              // eslint-disable-next-line @typescript-eslint/only-throw-error -- handlers throw such values too
              throw error;
            },
            of(key),
          )
          .then(
            (result) => ({ result }),
            (thrown: unknown) => ({ thrown }),
          ),
      );
      assert.ok('thrown' in outcome, 'a run whose work throws must reject');
      assert.ok(
        outcome.thrown === error,
        'it must reject with the same object that the work threw, neither wrapped nor copied',
      );
      await expectUntouched(store, key);
    }
  },

  async 'throws on an error that work throws before its first await'(store) {
    const key = newKey();
    const error = new Error('at once');
    const work = (): never => {
      throw error;
    };
    const thrown = await within(
      'a run whose work throws at once',
      store.run(key, work, of(key)).catch((reason: unknown) => reason),
    );
    assert.ok(thrown === error, 'it must reject with the same object that the work threw');
    await expectUntouched(store, key);
  },

  async 'leaves no mark while the work still runs'(store) {
    const key = newKey();
    const { work, begun, finish } = heldWork();
    const running = store.run(key, work, of(key));
    await within('the begin of the work', begun);
    // An engine with one connection answers after the work: too late to be wrong.
    const early = await Promise.race([
      store.isDone(key),
      pause(A_WHILE).then(() => 'no answer yet'),
    ]);
    finish();
    assert.notEqual(
      early,
      true,
      'isDone must not be true before the work has succeeded: a crash would lose it',
    );
    assert.equal(await within('a run', running), 'done');
    await expectDone(store, key, true);
  },

  async 'lets exactly one of many concurrent runs do the work of a key'(store) {
    for (let round = 0; round < 4; round++) {
      const key = newKey();
      let ran = 0;
      const work = async (): Promise<void> => {
        ran++;
        await pause(5);
      };
      const results = await within(
        '20 concurrent runs',
        Promise.all(Array.from({ length: 20 }, () => store.run(key, work, of(key)))),
      );
      const others = results.filter((result) => result !== 'done');
      assert.equal(ran, 1, 'the work must run exactly once');
      assert.equal(others.length, 19, 'one run is done, and no other');
      assert.deepEqual(
        others.filter((result) => result !== 'duplicate' && result !== 'in_progress'),
        [],
        'the others are duplicate or in_progress',
      );
      await expectDone(store, key, true);
      assert.equal(
        await runWhenFree(store, key, async () => {
          ran++;
        }),
        'duplicate',
        'no lease may stay behind',
      );
      assert.equal(ran, 1);
    }
  },

  async 'lets another run do the work after the one that failed, and never two at once'(store) {
    const key = newKey();
    let atWork = 0;
    let most = 0;
    let succeeded = 0;
    const attempt = (time: number) =>
      ending(
        store.run(
          key,
          async () => {
            most = Math.max(most, ++atWork);
            await pause(2);
            atWork--;
            if (time < 3) throw new Error('not yet');
            succeeded++;
          },
          of(key),
        ),
      );
    await within(
      '10 concurrent runs',
      Promise.all(Array.from({ length: 10 }, (_, time) => attempt(time))),
    );
    await runWhenFree(store, key, async () => {
      succeeded++;
    });
    assert.equal(most, 1, 'two works of one key must never run at once');
    assert.equal(succeeded, 1, 'the work must succeed once, and not again');
    await expectDone(store, key, true);
  },

  async 'does no work under a signal that is aborted already, and leaves no mark'(store) {
    const key = newKey();
    let ran = 0;
    const result = await within(
      'a run that is aborted already',
      ending(
        store.run(
          key,
          async () => {
            ran++;
          },
          of(key, { signal: AbortSignal.abort() }),
        ),
      ),
    );
    assert.deepEqual([result, ran], ['rejected', 0]);
    await expectUntouched(store, key);
  },

  async 'gives up work that never settles when it is aborted'(store) {
    const key = newKey();
    const controller = new AbortController();
    const { work, begun } = heldWork();
    const running = ending(store.run(key, work, of(key, { signal: controller.signal })));
    await within('the begin of the work', begun);
    controller.abort(new Error('the handler’s time is over'));
    assert.equal(await within('the end of a run that is aborted', running), 'rejected');
    await expectUntouched(store, key);
  },

  async 'gives up work that obeys the signal, too'(store) {
    const key = newKey();
    const controller = new AbortController();
    const { work, begun, fail } = heldWork();
    const reason = new Error('the handler’s time is over');
    controller.signal.addEventListener('abort', () => {
      fail(reason);
    });
    const running = ending(store.run(key, work, of(key, { signal: controller.signal })));
    await within('the begin of the work', begun);
    controller.abort(reason);
    assert.equal(await within('the end of a run that is aborted', running), 'rejected');
    await expectUntouched(store, key);
  },

  async 'leaves no mark for work that succeeds after the abort'(store) {
    const key = newKey();
    const controller = new AbortController();
    const { work, begun, finish } = heldWork();
    const running = ending(store.run(key, work, of(key, { signal: controller.signal })));
    await within('the begin of the work', begun);
    controller.abort();
    assert.equal(await within('the end of a run that is aborted', running), 'rejected');
    finish();
    await pause(A_WHILE);
    await expectUntouched(store, key);
  },

  async 'reports done only with a mark where the abort and the end of the work coincide'(store) {
    for (const order of ['the abort first', 'the end first'] as const) {
      const key = newKey();
      const controller = new AbortController();
      const { work, begun, finish } = heldWork();
      const running = ending(store.run(key, work, of(key, { signal: controller.signal })));
      await within('the begin of the work', begun);
      if (order === 'the end first') finish();
      controller.abort();
      finish();
      const result = await within('the end of a run that is aborted', running);
      await pause(A_WHILE);
      if (result === 'done') await expectDone(store, key, true, 'the run said done');
      else await expectUntouched(store, key);
    }
  },

  async 'ignores work that fails after the abort'(store) {
    const key = newKey();
    const controller = new AbortController();
    const { work, begun, fail } = heldWork();
    const unhandled: unknown[] = [];
    const notice = (error: unknown): void => {
      unhandled.push(error);
    };
    process.on('unhandledRejection', notice);
    try {
      const running = ending(store.run(key, work, of(key, { signal: controller.signal })));
      await within('the begin of the work', begun);
      controller.abort();
      await within('the end of a run that is aborted', running);
      fail(new Error('too late'));
      await pause(A_WHILE);
    } finally {
      process.off('unhandledRejection', notice);
    }
    assert.deepEqual(unhandled, [], 'an unhandled rejection would end the process');
    await expectUntouched(store, key);
  },

  async 'gives up a run that waits behind another of its key when it is aborted'(store) {
    const key = newKey();
    const controller = new AbortController();
    const first = heldWork();
    let ran = 0;
    const running = store.run(key, first.work, of(key));
    await within('the begin of the work', first.begun);
    const waiting = ending(
      store.run(
        key,
        async () => {
          ran++;
        },
        of(key, { signal: controller.signal }),
      ),
    );
    controller.abort();
    const result = await within('the end of a run that is aborted', waiting);
    assert.ok(
      result === 'rejected' || result === 'in_progress',
      `it must reject or be in_progress, not ${result}`,
    );
    first.finish();
    assert.equal(await within('the run before it', running), 'done', 'the run before it goes on');
    await pause(A_WHILE);
    assert.equal(ran, 0, 'the work of an aborted run must never begin');
  },

  async 'runs two keys of one turn one after the other, and takes neither for the other'(store) {
    const [first, second] = [newKey(), newKey()];
    const turn = newKey();
    let atWork = 0;
    let most = 0;
    const ran: string[] = [];
    const runOf = async (key: string): Promise<string> => {
      const work = async (): Promise<void> => {
        most = Math.max(most, ++atWork);
        await pause(5);
        atWork--;
        ran.push(key);
      };
      return runWhenFree(store, key, work, turn);
    };
    assert.deepEqual(await Promise.all([runOf(first), runOf(second)]), ['done', 'done']);
    assert.equal(most, 1, 'two works of one turn must never run at once');
    assert.deepEqual(ran.sort(), [first, second].sort(), 'the work of each key must run once');
  },

  async 'keeps keys apart that differ in one character, and takes many'(store) {
    const key = newKey();
    const other = (character: string | undefined): string => (character === '0' ? '1' : '0');
    const alike = [0, 31, 32, 62, 63].map(
      (at) => key.slice(0, at) + other(key[at]) + key.slice(at + 1),
    );
    const many = Array.from({ length: 100 }, newKey);
    for (const done of [key, ...many]) {
      assert.equal(await within('a run', store.run(done, nothing, of(done))), 'done');
    }
    for (const unlike of alike)
      await expectDone(store, unlike, false, 'another key is done, not this one');
    for (const done of [key, ...many]) await expectDone(store, done, true);
  },

  async 'leaves other keys alone when one is aborted'(store) {
    const [key, other] = [newKey(), newKey()];
    const controller = new AbortController();
    const running = ending(store.run(key, never, of(key, { signal: controller.signal })));
    const following = store.run(other, () => pause(A_WHILE), of(other));
    await pause(A_WHILE / 4);
    controller.abort();
    assert.equal(await within('the end of a run that is aborted', running), 'rejected');
    assert.equal(await within('the run of another key', following), 'done');
    await expectUntouched(store, key);
    await expectDone(store, other, true);
  },
};

const sideBySide: Readonly<Record<string, Scenario>> = {
  async 'works on different keys side by side'(store) {
    const [slow, quick] = [newKey(), newKey()];
    const held = heldWork();
    const running = store.run(slow, held.work, of(slow));
    await within('the begin of the work', held.begun);
    try {
      const result = await within(
        'a run beside one of another key',
        store.run(quick, nothing, of(quick)),
      );
      assert.equal(result, 'done');
      await expectDone(store, quick, true);
    } finally {
      held.finish();
    }
    assert.equal(await within('a run', running), 'done');
    await expectDone(store, slow, true);
  },
};

const inTurn: Readonly<Record<string, Scenario>> = {
  async 'works on different keys in turn, and forgets none'(store) {
    const many = Array.from({ length: 10 }, newKey);
    const results = await within(
      '10 runs of different keys',
      Promise.all(many.map((key) => store.run(key, () => pause(2), of(key)))),
    );
    assert.deepEqual(
      results,
      many.map(() => 'done'),
    );
    for (const key of many) await expectDone(store, key, true);
  },
};

const acrossProcesses: Readonly<Record<string, LargeScenario>> = {
  async 'lets one of two processes work on a key, and neither of them twice'(created) {
    const [first, second] = twoStores(created);
    const key = newKey();
    let ran = 0;
    const work = async (): Promise<void> => {
      ran++;
      await pause(20);
    };
    const runs = Array.from({ length: 10 }, (_, index) =>
      (index % 2 === 0 ? first : second).run(key, work, of(key)),
    );
    const results = await within('10 runs in two stores', Promise.all(runs));
    assert.equal(results.filter((result) => result === 'done').length, 1, 'one run is done');
    assert.equal(ran, 1, 'the work must run exactly once');
    for (const store of [first, second]) {
      await expectDone(store, key, true);
      assert.equal(await runWhenFree(store, key), 'duplicate');
    }
  },

  async 'never runs two keys of one turn at once in two processes'(created) {
    const stores = twoStores(created);
    const turn = newKey();
    let atWork = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      most = Math.max(most, ++atWork);
      await pause(10);
      atWork--;
    };
    const runs = stores.map((store) => runWhenFree(store, newKey(), work, turn));
    assert.deepEqual(await Promise.all(runs), ['done', 'done']);
    assert.equal(most, 1, 'two works of one turn must never run at once');
  },
};

const inTransactions: Readonly<Record<string, LargeScenario>> = {
  async 'commits the writes of the work with the mark'<Tx>(created: CreatedStore<Tx>) {
    const { store, write, count } = transactional(created);
    const key = newKey();
    const work = async (tx: Tx): Promise<void> => {
      await write(tx, key);
    };
    assert.equal(await within('a run', store.run(key, work, of(key))), 'done');
    assert.equal(await count(key), 1, 'the write of work that succeeded must be there');
    assert.equal(await within('a run', store.run(key, work, of(key))), 'duplicate');
    assert.equal(await count(key), 1, 'a duplicate must write nothing');
  },

  async 'rolls back the writes of work that throws'<Tx>(created: CreatedStore<Tx>) {
    const { store, write, count } = transactional(created);
    const key = newKey();
    const work = async (tx: Tx): Promise<void> => {
      await write(tx, key);
      throw new Error('the work threw');
    };
    assert.equal(await within('a run', ending(store.run(key, work, of(key)))), 'rejected');
    assert.equal(await count(key), 0, 'no write of work that threw may stay');
    await expectUntouched(store, key);
  },

  async 'lets no write of aborted work take effect, early or late'<Tx>(created: CreatedStore<Tx>) {
    const { store, write, count } = transactional(created);
    const key = newKey();
    const controller = new AbortController();
    const { work: held, begun, finish } = heldWork();
    let tried!: () => void;
    const late = new Promise<void>((resolve) => (tried = resolve));
    const work = async (tx: Tx): Promise<void> => {
      await write(tx, key);
      await held();
      await Promise.resolve()
        .then(() => write(tx, key))
        .catch(() => undefined);
      tried();
    };
    const running = ending(store.run(key, work, of(key, { signal: controller.signal })));
    await within('the begin of the work', begun);
    controller.abort();
    assert.equal(await within('the end of a run that is aborted', running), 'rejected');
    finish();
    await within('the late write', late);
    await pause(A_WHILE);
    assert.equal(await count(key), 0, 'no write of an aborted run may stay');
    const again = async (tx: Tx): Promise<void> => {
      await write(tx, key);
    };
    assert.equal(await runWhenFree(store, key, again), 'done');
    assert.equal(await count(key), 1);
  },

  async 'loses no write that the work does not await: it counts, or the run fails'<Tx>(
    created: CreatedStore<Tx>,
  ) {
    const { store, write, count } = transactional(created);
    const key = newKey();
    let writing: Promise<unknown> | undefined;
    const work = async (tx: Tx): Promise<void> => {
      writing = Promise.resolve(write(tx, key)).catch(() => undefined);
    };
    const result = await within('a run', ending(store.run(key, work, of(key))));
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
