import { describe, expect, it } from 'vitest';
import { testIdempotencyStore, type CreatedStore, type StoreUnderTest, type TestRunner } from '../src/index.js';

type Run = StoreUnderTest['run'];

/** A store that keeps the contract, in as few lines as it can be said: the broken ones below are this one with a fault. */
function soundStore(): StoreUnderTest {
  const done = new Set<string>();
  const busy = new Set<string>();
  return {
    isDone: async (key) => done.has(key),
    async run(key, work, { signal }) {
      if (done.has(key)) return 'duplicate';
      if (busy.has(key)) return 'in_progress';
      signal.throwIfAborted();
      busy.add(key);
      try {
        await untilAborted(work({}), signal);
        done.add(key);
        return 'done';
      } finally {
        busy.delete(key);
      }
    },
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

/** Every run waits for the one before it, as on an engine with a single connection. */
function storeInTurn(): StoreUnderTest {
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

/** What the broken ones are made of: the marks, and a run of their own. */
function storeWith(run: (done: Set<string>) => Run): StoreUnderTest {
  const done = new Set<string>();
  return { isDone: async (key) => done.has(key), run: run(done) };
}

/** Registers the suite and runs it; gives the titles of the tests that failed. */
async function failures(create: () => CreatedStore, options?: { oneAtATime: boolean }): Promise<string[]> {
  const tests: [title: string, body: () => Promise<void>][] = [];
  const runner: TestRunner = { describe: (_, body) => body(), it: (title, body) => void tests.push([title, body]) };
  testIdempotencyStore('a store', create, runner, options);
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

testIdempotencyStore('a sound store', soundStore, { describe, it });
testIdempotencyStore('a sound store that is closed afterwards', () => ({ store: soundStore(), close: () => undefined }), {
  describe,
  it,
});
testIdempotencyStore('a sound store on one connection', storeInTurn, { describe, it }, { oneAtATime: true });

const broken: readonly (readonly [fault: string, failing: RegExp, create: () => StoreUnderTest])[] = [
  [
    'leaves its mark before the work',
    /no mark when the work throws.*no mark while the work still runs/s,
    () =>
      storeWith((done) => async (key, work, { signal }) => {
        if (done.has(key)) return 'duplicate';
        signal.throwIfAborted();
        done.add(key);
        await untilAborted(work({}), signal);
        return 'done';
      }),
  ],
  [
    'leaves its mark before the work, and takes it back on a failure',
    /no mark while the work still runs/,
    () =>
      storeWith((done) => async (key, work, { signal }) => {
        if (done.has(key)) return 'duplicate';
        signal.throwIfAborted();
        done.add(key);
        try {
          await untilAborted(work({}), signal);
          return 'done';
        } catch (error) {
          done.delete(key);
          throw error;
        }
      }),
  ],
  [
    'checks, and then sets',
    /exactly one of many concurrent runs/,
    () =>
      storeWith((done) => async (key, work, { signal }) => {
        if (done.has(key)) return 'duplicate';
        signal.throwIfAborted();
        await untilAborted(work({}), signal);
        done.add(key);
        return 'done';
      }),
  ],
  [
    'never leaves a mark',
    /leaves a mark.*a replay is a duplicate/s,
    () => {
      const { run } = soundStore();
      return { isDone: async () => false, run: (key, work, options) => run(`${key}${Math.random()}`, work, options) };
    },
  ],
  [
    'forgets in isDone what it knows in run',
    /does the work of a new key, and leaves a mark/,
    () => ({ ...soundStore(), isDone: async () => false }),
  ],
  [
    'wraps what the work throws',
    /the very same error/,
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
    'swallows what the work throws',
    /the very same error/,
    () => {
      const { isDone, run } = soundStore();
      return { isDone, run: (key, work, options) => run(key, work, options).catch(() => 'in_progress' as const) };
    },
  ],
  [
    'leaves a mark for work that ends after the abort',
    /work that succeeds after the abort/,
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
                async (scope) => {
                  await work(scope);
                  done.add(key);
                },
                options,
              ),
      };
    },
  ],
  [
    'keeps its lease after a failure',
    /the very same error/,
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
          await untilAborted(work({}), signal);
          done.add(key);
          leased.delete(key);
          return 'done';
        },
      };
    },
  ],
  [
    'does not look at the signal',
    /under a signal that is aborted already.*never settles when it is aborted/s,
    () => {
      const { isDone, run } = soundStore();
      return { isDone, run: (key, work) => run(key, work, { signal: new AbortController().signal }) };
    },
  ],
  [
    'looks at the signal only while the work runs',
    /under a signal that is aborted already/,
    () => {
      const { isDone, run } = soundStore();
      return {
        isDone,
        run: (key, work, options) => run(key, work, options.signal.aborted ? { signal: new AbortController().signal } : options),
      };
    },
  ],
  [
    'takes keys for the same that only begin alike',
    /differ in one character/,
    () => {
      const { isDone, run } = soundStore();
      return { isDone: (key) => isDone(key.slice(0, 60)), run: (key, ...rest) => run(key.slice(0, 60), ...rest) };
    },
  ],
  [
    'hands one scope to every run',
    /one run’s scope/,
    () => {
      const { isDone, run } = soundStore();
      const scope = {};
      return { isDone, run: (key, work, options) => run(key, () => work(scope), options) };
    },
  ],
  ['works on one key at a time, and does not say so', /side by side/, storeInTurn],
  [
    'says done of what was done before',
    /a replay is a duplicate/,
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

describe('testIdempotencyStore', () => {
  it.each(broken)(
    'finds a store that %s',
    async (_fault, failing, create) => {
      expect((await failures(create)).join('\n')).toMatch(failing);
    },
    20_000,
  );

  it('closes each store that it was given, also after a failure', async () => {
    let open = 0;
    await failures(() => {
      open++;
      return { store: { ...soundStore(), isDone: async () => false }, close: () => open-- };
    });
    expect(open).toBe(0);
  }, 20_000);

  it('says what it needs where the runner has no globals', () => {
    expect(() => testIdempotencyStore('a store', soundStore)).toThrow(/testIdempotencyStore needs `describe` and `it`/);
  });
});
