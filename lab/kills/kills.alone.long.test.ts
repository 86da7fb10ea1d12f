import { afterEach, describe, expect, it } from 'vitest';
import { ENGINES, startEngine, type Engine } from '../../test/money/engines.js';
import { isRight, runKills } from './kills.js';

let engine: Engine;
afterEach(() => engine.close());

// `pnpm lab kills --long` kills more.
describe(
  'kill -9 at each step, beside deliveries, pages and schedules',
  { tags: ['P05', 'O16', 'I03', 'I04'] },
  () => {
    it.each(ENGINES)(
      'loses nothing and doubles nothing on %s',
      async (name) => {
        engine = await startEngine(name);
        const report = await runKills({ engine, kills: 14, seed: 1 });
        expect(isRight(report), JSON.stringify(report)).toBe(true);
      },
      120_000,
    );

    it('shows that a credit without a condition doubles', async () => {
      engine = await startEngine('SQLite');
      const plan = { engine, kills: 28, seed: 2, design: 'unconditional' } as const;
      expect((await runKills(plan)).doubled).toBeGreaterThan(0);
    }, 120_000);
  },
);
