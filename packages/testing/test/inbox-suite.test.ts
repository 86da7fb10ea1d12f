import { describe, expect, it } from 'vitest';
import type { InboxUnderTest } from '../src/inbox-scenarios.js';
import { testPaymentStore } from '../src/index.js';
import type { StoreUnderTest } from '../src/payment-store-suite.js';

type Kept = NonNullable<Awaited<ReturnType<InboxUnderTest['get']>>>;

/** A correct store in memory. The broken stores are this store with a fault. */
function soundStore(fault: (inbox: InboxUnderTest) => Partial<InboxUnderTest> = () => ({})) {
  const done = new Set<string>();
  const kept = new Map<string, Kept>();
  const listed = (): Kept[] => [...kept.values()].filter(({ key }) => !done.has(key));
  const sound: InboxUnderTest = {
    async keep(failed) {
      const { attempts, firstFailedAt } = kept.get(failed.key) ?? {
        attempts: 0,
        firstFailedAt: new Date(),
      };
      const times = { firstFailedAt, lastFailedAt: new Date() };
      const size = failed.rawBody.length;
      kept.set(failed.key, { ...failed, ...times, size, attempts: attempts + 1 });
    },
    discard: async (key) => void kept.delete(key),
    list: async ({ limit = 100, after } = {}) => {
      const all = listed();
      const start = all.findIndex(({ key }) => key === after?.key) + 1;
      return all.slice(start, start + limit).map(({ rawBody: _, ...facts }) => facts);
    },
    get: async (wanted) => listed().find(({ key }) => key === wanted),
    forget: async ({ olderThan }) => {
      const old = [...kept.values()].filter(({ lastFailedAt }) => lastFailedAt < olderThan);
      for (const { key } of old) kept.delete(key);
      return old.length;
    },
  };
  const store: StoreUnderTest = {
    isDone: async (key) => done.has(key),
    run: async (key, work) => {
      if (done.has(key)) return 'duplicate';
      await work(undefined);
      done.add(key);
      return 'done';
    },
    inbox: { ...sound, ...fault(sound) },
  };
  return { store };
}

const options = { capability: 'memory', inbox: true } as const;

/** Returns the titles of the suite's inbox tests, and of the failed ones. */
async function titlesOf(create: () => { readonly store: StoreUnderTest }) {
  const tests = new Map<string, () => Promise<void>>();
  const runner = {
    describe: (_: string, body: () => void) => body(),
    it: (title: string, body: () => Promise<void>) => void tests.set(title, body),
  };
  testPaymentStore('a store', create, { capability: 'memory', runner });
  const without = new Set(tests.keys());
  testPaymentStore('a store', create, { ...options, runner });
  const added = [...tests].filter(([title]) => !without.has(title));
  const failed: string[] = [];
  for (const [title, body] of added) await body().catch(() => failed.push(title));
  return { added: added.map(([title]) => title), failed: failed.join('\n') };
}

describe('testPaymentStore with an inbox', () => {
  it('passes a sound inbox', async () => {
    expect(await titlesOf(soundStore)).toMatchObject({ added: { length: 5 }, failed: '' });
  });

  it.each<[string, RegExp, (inbox: InboxUnderTest) => Partial<InboxUnderTest>]>([
    [
      'changes the body',
      /every fact and byte/,
      ({ keep }) => ({
        keep: (failed) => keep({ ...failed, rawBody: Buffer.from(String(failed.rawBody)) }),
      }),
    ],
    [
      'keeps each attempt under its own key',
      /failures of one key as one delivery/,
      ({ keep }) => {
        let attempts = 0;
        return { keep: (failed) => keep({ ...failed, key: `${failed.key}${(attempts += 1)}` }) };
      },
    ],
    [
      'lists deliveries that have succeeded',
      /until work of its key succeeds/,
      ({ keep, get }) => {
        const all = new Map<string, Kept>();
        return {
          keep: async (failed) => {
            await keep(failed);
            all.set(failed.key, (await get(failed.key))!);
          },
          get: async (key) => all.get(key),
        };
      },
    ],
    [
      'repeats a delivery on the next page',
      /once across pages of any length/,
      ({ list }) => ({
        list: async (page) => {
          const before = page?.after === undefined ? [] : await list({ limit: 1 });
          const next = await list(page);
          return next.length === 0 ? next : [...before, ...next];
        },
      }),
    ],
    [
      'discards everything',
      /discards one delivery/,
      ({ forget }) => ({
        discard: async () => void (await forget({ olderThan: new Date(Date.now() + 1_000) })),
      }),
    ],
  ])('fails for an inbox that %s', async (_, failing, fault) => {
    expect((await titlesOf(() => soundStore(fault))).failed).toMatch(failing);
  });

  it('fails for a store without an inbox', async () => {
    const { store } = soundStore();
    const { failed } = await titlesOf(() => ({ store: { ...store, inbox: undefined } }));
    expect(failed.split('\n')).toHaveLength(5);
  });
});
