/**
 * The designs of a credit: finds the broken ones, and accepts the others, each on one of two
 * engines. `pnpm lab schedules` tries each on both.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { BROKEN, isOnBoth, RIGHT } from './designs.js';
import { openMariaDb, openPostgres } from './engines.js';
import { explore, removeBundle, shopAt } from './explore.js';

const LIMIT = 120_000;
const ENGINES = { PostgreSQL: await openPostgres(), MariaDB: await openMariaDb() };
afterAll(async () => {
  await removeBundle();
  for (const engine of Object.values(ENGINES)) await engine.close();
});

describe.each(Object.entries(ENGINES))('on %s', (name, { url }) => {
  const isHere = (design: string): boolean => (name === 'MariaDB') === isOnBoth(design);
  const exploreHere = (design: string, only?: 'orders' | 'cuts') =>
    explore(design, { module: shopAt('sql'), databaseUrl: url, only });

  it.each(Object.entries(BROKEN).filter(([design]) => isHere(design)))(
    'tells the fault of %s',
    { tags: ['Q20', 'I03', 'P05'], timeout: LIMIT },
    async (design, [only, sentence]) => {
      const { faults, stories, orders } = await exploreHere(design, only);
      expect(faults).toEqual([expect.stringMatching(sentence)]);
      // One or two changes between the deliveries are tried before all others.
      expect(orders).toBeLessThanOrEqual(15);
      expect(stories[0]!.split('\n').length).toBeLessThanOrEqual(23);
    },
  );

  // For the suite, an advisory lock is as the lock of a row.
  it.each(RIGHT.filter((design) => isHere(design) && !design.includes('advisory')))(
    'accepts %s',
    { tags: ['Q20', 'I04'], timeout: LIMIT },
    async (design) => {
      // postgres.alone.long.test.ts has cuts of right ones on PostgreSQL.
      const only = name === 'PostgreSQL' ? 'orders' : undefined;
      const { faults, orders, cuts, notTested } = await exploreHere(design, only);
      expect(faults).toEqual([]);
      expect(orders).toBeGreaterThanOrEqual(6);
      if (only === undefined) expect(cuts).toBeGreaterThanOrEqual(12);
      const others = notTested.filter((part) => !/^(further writes|two orders)/.test(part));
      expect(others).toEqual([]);
    },
  );
});
