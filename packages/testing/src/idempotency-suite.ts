/** The suite that proves an idempotency store of your own. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { globalRunner, type TestRunner } from './test-runner.js';

/** `IdempotencyStore` of @paylink/core, in as much as the suite uses it; `scope` is whatever the store gives to the work. */
export interface StoreUnderTest {
  isDone(key: string): Promise<boolean>;
  run(
    key: string,
    work: (scope: object) => Promise<void>,
    options: { readonly signal: AbortSignal },
  ): Promise<'done' | 'duplicate' | 'in_progress'>;
}

/** A store, or a store with what has to be ended after each test. */
export type CreatedStore = StoreUnderTest | { readonly store: StoreUnderTest; close(): unknown };

export interface IdempotencySuiteOptions {
  /**
   * For a store on an engine that has a single connection (an embedded database): work on one key waits for work on another,
   * and the suite asks for no more than that each gets its turn. Default false.
   */
  readonly oneAtATime?: boolean | undefined;
}

type Scenario = (store: StoreUnderTest) => Promise<void>;

/** Milliseconds in which whatever must settle has settled: under the five seconds that most runners give a test. */
const PATIENCE = 3_000;
/** How long a check waits for what must not happen. */
const A_WHILE = 60;

/**
 * Registers the tests that a store has to pass before it may stand between a notification and money: `IdempotencyStore` of
 * @paylink/core, as a contract.
 *
 * @param create gives the store, or `{ store, close }`; called for each test. The keys are new each time, so that a store may
 * keep what earlier tests and runs have left in its database.
 * @param runner default: the globals `describe` and `it`
 * @throws TypeError when no runner is given and there are no such globals.
 */
export function testIdempotencyStore(
  name: string,
  create: () => CreatedStore | Promise<CreatedStore>,
  runner: TestRunner = globalRunner('testIdempotencyStore'),
  { oneAtATime = false }: IdempotencySuiteOptions = {},
): void {
  const scenarios = { ...always, ...(oneAtATime ? inTurn : sideBySide) };
  runner.describe(name, () => {
    for (const [title, scenario] of Object.entries(scenarios)) {
      runner.it(title, () => withStore(create, scenario));
    }
  });
}

async function withStore(create: () => CreatedStore | Promise<CreatedStore>, scenario: Scenario): Promise<void> {
  const created = await create();
  if (!('store' in created)) {
    await scenario(created);
    return;
  }
  try {
    await scenario(created.store);
  } finally {
    await created.close();
  }
}

let keys = 0;
const session = `${process.pid} ${Date.now()} ${Math.random()}`;

/** A key as a store gets it from the receiver: a SHA-256 in hex, never used before. */
function newKey(): string {
  return createHash('sha256').update(`${session} ${++keys}`).digest('hex');
}

/** The options of a run that is never aborted. A signal of its own each, as each delivery has. */
const patient = (): { signal: AbortSignal } => ({ signal: new AbortController().signal });
const nothing = (): Promise<void> => Promise.resolve();
const never = (): Promise<void> => new Promise(() => undefined);
const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Work that has begun when `begun` resolves, and ends when the test says so. */
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

async function within<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new assert.AssertionError({ message: `${what} took more than ${PATIENCE} ms` }));
    }, PATIENCE);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** How a run ended: its result, or that it rejected. */
function ending(run: Promise<string>): Promise<string> {
  return run.catch(() => 'rejected');
}

/** Runs work that succeeds until the key is free: what held it may take a moment to let go. */
async function runWhenFree(store: StoreUnderTest, key: string, work: () => Promise<void> = nothing): Promise<string> {
  const end = performance.now() + PATIENCE;
  for (;;) {
    const result = await within('a run', store.run(key, work, patient()));
    if (result !== 'in_progress' || performance.now() > end) return result;
    await pause(10);
  }
}

async function expectDone(store: StoreUnderTest, key: string, done: boolean, message?: string): Promise<void> {
  const what = message ?? (done ? 'the mark of work that succeeded' : 'no mark, since no work succeeded');
  assert.equal(await within('isDone', store.isDone(key)), done, `isDone must be ${done}: ${what}`);
}

/** That nothing of what happened is left: no mark, and the key is free. */
async function expectUntouched(store: StoreUnderTest, key: string): Promise<void> {
  await expectDone(store, key, false);
  let ran = 0;
  const result = await runWhenFree(store, key, async () => {
    ran++;
  });
  assert.deepEqual([result, ran], ['done', 1], 'the key must be free for another run, which does the work');
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
        patient(),
      ),
    );
    assert.deepEqual([result, ran], ['done', 1]);
    await expectDone(store, key, true);
  },

  async 'does nothing again that is done: a replay is a duplicate (H01)'(store) {
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
            patient(),
          ),
        ),
      );
    }
    assert.deepEqual([results, ran], [['done', 'duplicate', 'duplicate', 'duplicate'], 1]);
    await expectDone(store, key, true);
  },

  async 'leaves no mark when the work throws, and throws on the very same error (G09)'(store) {
    const errors = [new Error('the work threw'), Object.freeze(new TypeError('frozen')), { code: 'no Error at all' }];
    for (const error of errors) {
      const key = newKey();
      const outcome = await within(
        'a run whose work throws',
        store
          .run(
            key,
            async () => {
              await pause(1);
              // eslint-disable-next-line @typescript-eslint/only-throw-error -- merchants' handlers throw such things too
              throw error;
            },
            patient(),
          )
          .then(
            (result) => ({ result }),
            (thrown: unknown) => ({ thrown }),
          ),
      );
      assert.ok('thrown' in outcome, 'a run whose work throws must reject');
      assert.ok(outcome.thrown === error, 'it must reject with the same object that the work threw, neither wrapped nor copied');
      await expectUntouched(store, key);
    }
  },

  async 'throws on what work throws before its first await'(store) {
    const key = newKey();
    const error = new Error('at once');
    const work = (): never => {
      throw error;
    };
    const thrown = await within(
      'a run whose work throws at once',
      store.run(key, work, patient()).catch((reason: unknown) => reason),
    );
    assert.ok(thrown === error, 'it must reject with the same object that the work threw');
    await expectUntouched(store, key);
  },

  async 'leaves no mark while the work still runs'(store) {
    const key = newKey();
    const { work, begun, finish } = heldWork();
    const running = store.run(key, work, patient());
    await within('the begin of the work', begun);
    // An engine with one connection answers when the work has ended: too late to be wrong.
    const early = await Promise.race([store.isDone(key), pause(A_WHILE).then(() => 'no answer yet')]);
    finish();
    assert.notEqual(early, true, 'isDone must not be true before the work has succeeded: a crash would lose it');
    assert.equal(await within('a run', running), 'done');
    await expectDone(store, key, true);
  },

  async 'lets exactly one of many concurrent runs do the work of a key (H02)'(store) {
    for (let round = 0; round < 4; round++) {
      const key = newKey();
      let ran = 0;
      const work = async (): Promise<void> => {
        ran++;
        await pause(5);
      };
      const results = await within(
        '20 concurrent runs',
        Promise.all(Array.from({ length: 20 }, () => store.run(key, work, patient()))),
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
          patient(),
        ),
      );
    await within('10 concurrent runs', Promise.all(Array.from({ length: 10 }, (_, time) => attempt(time))));
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
          { signal: AbortSignal.abort() },
        ),
      ),
    );
    assert.deepEqual([result, ran], ['rejected', 0]);
    await expectUntouched(store, key);
  },

  async 'gives up work that never settles when it is aborted (G03)'(store) {
    const key = newKey();
    const controller = new AbortController();
    const { work, begun } = heldWork();
    const running = ending(store.run(key, work, { signal: controller.signal }));
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
    const running = ending(store.run(key, work, { signal: controller.signal }));
    await within('the begin of the work', begun);
    controller.abort(reason);
    assert.equal(await within('the end of a run that is aborted', running), 'rejected');
    await expectUntouched(store, key);
  },

  async 'leaves no mark for work that succeeds after the abort'(store) {
    const key = newKey();
    const controller = new AbortController();
    const { work, begun, finish } = heldWork();
    const running = ending(store.run(key, work, { signal: controller.signal }));
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
      const running = ending(store.run(key, work, { signal: controller.signal }));
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
      const running = ending(store.run(key, work, { signal: controller.signal }));
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
    const running = store.run(key, first.work, patient());
    await within('the begin of the work', first.begun);
    const waiting = ending(
      store.run(
        key,
        async () => {
          ran++;
        },
        { signal: controller.signal },
      ),
    );
    controller.abort();
    const result = await within('the end of a run that is aborted', waiting);
    assert.ok(result === 'rejected' || result === 'in_progress', `it must reject or be in_progress, not ${result}`);
    first.finish();
    assert.equal(await within('the run before it', running), 'done', 'the run before it goes on');
    await pause(A_WHILE);
    assert.equal(ran, 0, 'the work of an aborted run must never begin');
  },

  async 'hands nothing of one run’s scope to another'(store) {
    const key = newKey();
    const seen: unknown[] = [];
    const work = async (scope: object): Promise<void> => {
      assert.equal(typeof scope, 'object', 'the work gets a scope');
      seen.push((scope as { left?: unknown }).left);
      // A frozen scope keeps nothing in the first place.
      Reflect.set(scope, 'left', 'behind');
      if (seen.length === 1) throw new Error('rolled back');
    };
    await within('a run', ending(store.run(key, work, patient())));
    assert.equal(await runWhenFree(store, key, work as () => Promise<void>), 'done');
    assert.equal(await runWhenFree(store, newKey(), work as () => Promise<void>), 'done');
    assert.deepEqual(seen, [undefined, undefined, undefined]);
  },

  async 'keeps keys apart that differ in one character, and takes many'(store) {
    const key = newKey();
    const other = (character: string | undefined): string => (character === '0' ? '1' : '0');
    const alike = [0, 31, 32, 62, 63].map((at) => key.slice(0, at) + other(key[at]) + key.slice(at + 1));
    const many = Array.from({ length: 100 }, newKey);
    for (const done of [key, ...many]) {
      assert.equal(await within('a run', store.run(done, nothing, patient())), 'done');
    }
    for (const unlike of alike) await expectDone(store, unlike, false, 'another key is done, not this one');
    for (const done of [key, ...many]) await expectDone(store, done, true);
  },

  async 'leaves other keys alone when one is aborted'(store) {
    const [key, other] = [newKey(), newKey()];
    const controller = new AbortController();
    const running = ending(store.run(key, never, { signal: controller.signal }));
    const following = store.run(other, () => pause(A_WHILE), patient());
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
    const running = store.run(slow, held.work, patient());
    await within('the begin of the work', held.begun);
    try {
      const result = await within('a run beside one of another key', store.run(quick, nothing, patient()));
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
      Promise.all(many.map((key) => store.run(key, () => pause(2), patient()))),
    );
    assert.deepEqual(
      results,
      many.map(() => 'done'),
    );
    for (const key of many) await expectDone(store, key, true);
  },
};
