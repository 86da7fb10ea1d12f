import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { World } from './world.js';
import { BROKEN } from './designs.js';

// `pnpm lab simulation` runs more.
const HISTORIES = 300;
const MOST_SEEDS = 2_000;

// Outside production, a refused signature starts the diagnosis in real time.
beforeAll(() => void vi.stubEnv('NODE_ENV', 'production'));
afterAll(() => void vi.unstubAllEnvs());

describe('simulated histories of the money', { tags: ['O16', 'P05'] }, () => {
  it('lose nothing and double nothing', async () => {
    for (let seed = 1; seed <= HISTORIES; seed += 1) {
      const { violations, timeline } = await new World(seed).run();
      expect(violations, timeline.join('\n')).toEqual([]);
    }
  }, 60_000);

  it.each(Object.entries(BROKEN))(
    'find what %s does wrong',
    async (_, design) => {
      for (let seed = 1; seed <= MOST_SEEDS; seed += 1) {
        const { violations } = await new World(seed, design).run();
        if (violations.length > 0) return;
      }
      expect.fail(`${MOST_SEEDS} histories violated nothing`);
    },
    60_000,
  );

  it('are the same again from the same seed', async () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const first = await new World(seed).run();
      await new World(seed + 1).run();
      expect(await new World(seed).run()).toEqual(first);
    }
  });
});
