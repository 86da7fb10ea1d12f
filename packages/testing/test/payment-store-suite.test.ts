import { describe, expect, it } from 'vitest';
import {
  testPaymentStore,
  type CreatedStore,
  type PaymentStoreSuiteOptions,
} from '../src/index.js';
import type { StoreUnderTest } from '../src/payment-store-suite.js';
import type { TestRunner } from '../src/test-runner.js';

interface Tx {
  readonly written: string[];
}
type Store = StoreUnderTest<Tx>;
type Run = Store['run'];
type Options = Parameters<Run>[2];

const tx: Tx = { written: [] };
/** A database's marks and rows, and the turns of its processes. */
class Database {
  readonly done = new Set<string>();
  readonly rows: string[] = [];
  readonly busy = new Set<string>();
}

/** A correct store in few lines. The broken stores below are this store with a fault. */
function soundStore(database = new Database()): Store {
  const { done, busy, rows } = database;
  return {
    isDone: async (key) => done.has(key),
    async run(key, work, { signal, turn }) {
      if (done.has(key)) return 'duplicate';
      if (busy.has(turn)) return 'in_progress';
      signal.throwIfAborted();
      busy.add(turn);
      const written: string[] = [];
      try {
        await untilAborted(work({ written }), signal);
        done.add(key);
        rows.push(...written);
        return 'done';
      } finally {
        busy.delete(turn);
      }
    },
  };
}

/** Two sound stores, and their rows. */
function soundPair() {
  const database = new Database();
  return {
    store: soundStore(database),
    other: soundStore(database),
    write: async ({ written }: Tx, id: string) => written.push(id),
    count: async (id: string) => database.rows.filter((row) => row === id).length,
  };
}

function untilAborted(running: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason);
    });
  });
  return Promise.race([running, aborted]);
}

/** Each run waits for the run before it, as on an engine with a single connection. */
function storeInTurn(): Store {
  const { isDone, run } = soundStore();
  let last: Promise<unknown> = Promise.resolve();
  return {
    isDone,
    run: (key, work, options) => {
      const running = untilAborted(
        last.then(() => undefined),
        options.signal,
      ).then(() => run(key, work, options));
      last = Promise.allSettled([last, running]);
      return running;
    },
  };
}

/** A store of marks and a broken run. */
function storeWith(run: (done: Set<string>) => Run): Store {
  const done = new Set<string>();
  return { isDone: async (key) => done.has(key), run: run(done) };
}

type SuiteOptions = Omit<PaymentStoreSuiteOptions, 'runner'>;

/** Registers the suite, runs it, and returns the titles of the failed tests. */
async function failures(
  create: () => CreatedStore<Tx>,
  options: SuiteOptions = { capability: 'memory' },
): Promise<string[]> {
  const tests: [title: string, body: () => Promise<void>][] = [];
  const runner: TestRunner = {
    describe: (_, body) => body(),
    it: (title, body) => void tests.push([title, body]),
  };
  testPaymentStore('a store', create, { ...options, runner });
  expect(tests.length).toBeGreaterThan(15);
  const failed = await Promise.all(
    tests.map(([title, body]) =>
      body().then(
        () => [],
        () => [title],
      ),
    ),
  );
  return failed.flat();
}

const runner: TestRunner = { describe, it };
testPaymentStore('a sound store', () => ({ store: soundStore() }), {
  capability: 'memory',
  runner,
});
testPaymentStore('a sound store on one connection', () => ({ store: storeInTurn() }), {
  capability: 'memory',
  oneAtATime: true,
  runner,
});
testPaymentStore('two sound stores on one database', soundPair, {
  capability: 'transactional',
  runner,
});

const broken: readonly (readonly [fault: string, failing: RegExp, create: () => Store])[] = [
  [
    'leaves its mark before the work',
    /does not mark the key\n.*does not mark a key as done while its work runs/s,
    () =>
      storeWith((done) => async (key, work, { signal }) => {
        if (done.has(key)) return 'duplicate';
        signal.throwIfAborted();
        done.add(key);
        await untilAborted(work(tx), signal);
        return 'done';
      }),
  ],
  [
    'leaves its mark before the work and removes it on failure',
    /does not mark a key as done while its work runs/,
    () =>
      storeWith((done) => async (key, work, { signal }) => {
        if (done.has(key)) return 'duplicate';
        signal.throwIfAborted();
        done.add(key);
        try {
          await untilAborted(work(tx), signal);
          return 'done';
        } catch (error) {
          done.delete(key);
          throw error;
        }
      }),
  ],
  [
    'checks the mark and sets it in two steps',
    /once for many concurrent runs/,
    () =>
      storeWith((done) => async (key, work, { signal }) => {
        if (done.has(key)) return 'duplicate';
        signal.throwIfAborted();
        await untilAborted(work(tx), signal);
        done.add(key);
        return 'done';
      }),
  ],
  [
    'never leaves a mark',
    /marks the key as done.*a replay as a duplicate/s,
    () => {
      const { run } = soundStore();
      return {
        isDone: async () => false,
        run: (key, work, options) => run(`${key}${Math.random()}`, work, options),
      };
    },
  ],
  [
    'reports false in isDone for a key that run knows',
    /runs the work of a new key and marks the key as done/,
    () => ({ ...soundStore(), isDone: async () => false }),
  ],
  [
    'wraps errors of the work',
    /rejects with the error that the work throws/,
    () => {
      const { isDone, run } = soundStore();
      return {
        isDone,
        run: (key, work, options) =>
          run(key, work, options).catch((cause: unknown) => {
            throw new Error('the store failed', { cause });
          }),
      };
    },
  ],
  [
    'swallows errors of the work',
    /rejects with the error that the work throws/,
    () => {
      const { isDone, run } = soundStore();
      return {
        isDone,
        run: (key, work, options) => run(key, work, options).catch(() => 'in_progress' as const),
      };
    },
  ],
  [
    'leaves a mark for work that ends after the abort',
    /whose work succeeds after the abort/,
    () => {
      const done = new Set<string>();
      const { run } = soundStore();
      return {
        isDone: async (key) => done.has(key),
        run: (key, work, options) =>
          done.has(key)
            ? Promise.resolve('duplicate')
            : run(
                key,
                async (given) => {
                  await work(given);
                  done.add(key);
                },
                options,
              ),
      };
    },
  ],
  [
    'keeps its lease after a failure',
    /rejects with the error that the work throws/,
    () => {
      const done = new Set<string>();
      const leased = new Set<string>();
      return {
        isDone: async (key) => done.has(key),
        async run(key, work, { signal }) {
          if (done.has(key)) return 'duplicate';
          if (leased.has(key)) return 'in_progress';
          signal.throwIfAborted();
          leased.add(key);
          await untilAborted(work(tx), signal);
          done.add(key);
          leased.delete(key);
          return 'done';
        },
      };
    },
  ],
  [
    'ignores the signal',
    /signal is already aborted.*even if the work never settles/s,
    () => {
      const { isDone, run } = soundStore();
      return { isDone, run: (key, work, options) => run(key, work, unaborted(options)) };
    },
  ],
  [
    'checks the signal only while the work runs',
    /signal is already aborted/,
    () => {
      const { isDone, run } = soundStore();
      return {
        isDone,
        run: (key, work, options) =>
          run(key, work, options.signal.aborted ? unaborted(options) : options),
      };
    },
  ],
  [
    'confuses keys with a common prefix',
    /differ in one character/,
    () => {
      const { isDone, run } = soundStore();
      return {
        isDone: (key) => isDone(key.slice(0, 60)),
        run: (key, ...rest) => run(key.slice(0, 60), ...rest),
      };
    },
  ],
  [
    'takes no turns',
    /two keys of one turn one after the other/,
    () => {
      const { isDone, run } = soundStore();
      return { isDone, run: (key, work, options) => run(key, work, { ...options, turn: key }) };
    },
  ],
  ['works on one key at a time without oneAtATime', /different keys at the same time/, storeInTurn],
  [
    'returns `done` for a key that was done before',
    /a replay as a duplicate/,
    () => {
      const { isDone, run } = soundStore();
      return {
        isDone,
        run: async (key, work, options) => {
          const result = await run(key, work, options);
          return result === 'duplicate' ? 'done' : result;
        },
      };
    },
  ],
];

const brokenPairs: readonly (readonly [
  fault: string,
  failing: RegExp,
  create: () => CreatedStore<Tx>,
])[] = [
  [
    'excludes only runs within its own process',
    /once for runs in two processes.*at once in two processes/s,
    () => ({ ...soundPair(), other: soundStore() }),
  ],
  [
    'writes outside of its transaction',
    /rolls back the writes.*rolls back every write of aborted work/s,
    () => {
      const rows: string[] = [];
      const write = async (_: Tx, id: string): Promise<unknown> => rows.push(id);
      return {
        ...soundPair(),
        write,
        count: async (id: string) => rows.filter((row) => row === id).length,
      };
    },
  ],
  [
    'commits the mark without the writes',
    /commits the writes of the work with the mark/,
    () => ({ ...soundPair(), count: async () => 0 }),
  ],
  [
    'loses a write that the work does not await',
    /commits a write that the work does not await/,
    () => {
      const { write, ...pair } = soundPair();
      const later = async (given: Tx, id: string): Promise<unknown> => {
        await new Promise(setImmediate);
        return write(given, id);
      };
      return { ...pair, write: later };
    },
  ],
  ['has no second store', /in two processes/, () => ({ ...soundPair(), other: undefined })],
];

function unaborted(options: Options): Options {
  return { ...options, signal: new AbortController().signal };
}

describe('testPaymentStore', () => {
  it.each(broken)(
    'fails for a store that %s',
    async (_fault, failing, create) => {
      expect((await failures(() => ({ store: create() }))).join('\n')).toMatch(failing);
    },
    20_000,
  );

  it.each(brokenPairs)(
    'fails for a transactional store that %s',
    async (_fault, failing, create) => {
      const failed = await failures(create, { capability: 'transactional' });
      expect(failed.join('\n')).toMatch(failing);
    },
    20_000,
  );

  it('closes each store, even after a failure', async () => {
    let open = 0;
    await failures(() => {
      open++;
      return { store: { ...soundStore(), isDone: async () => false }, close: () => open-- };
    });
    expect(open).toBe(0);
  }, 20_000);

  it('names the missing globals of the runner', () => {
    const register = () =>
      testPaymentStore('a store', () => ({ store: soundStore() }), { capability: 'memory' });
    expect(register).toThrow(/testPaymentStore needs `describe` and `it`/);
  });
});
