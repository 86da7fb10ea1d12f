import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { BROKEN_NAMES, DESIGN_NAMES } from './designs/index.js';
import { World } from './world.js';

// `pnpm lab simulation` runs more.
const HISTORIES = 150;
const MOST_SEEDS = 1_000;

// Outside production, a refused signature loads the diagnosis in real time.
beforeAll(() => {
  vi.stubEnv('NODE_ENV', 'production');
  // memoryStore() warns that it is not for production.
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
});
afterAll(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe('simulated histories of the money path', () => {
  it.each(DESIGN_NAMES.filter((name) => !BROKEN_NAMES.includes(name)))(
    'lose nothing and double nothing under %s',
    async (design) => {
      for (let seed = 1; seed <= HISTORIES; seed += 1) {
        const { violations, timeline } = await new World(seed, design).run();
        expect(violations, timeline).toEqual([]);
      }
    },
    60_000,
  );

  it.each(BROKEN_NAMES)(
    `find what %s does wrong within ${MOST_SEEDS} seeds`,
    async (design) => {
      for (let seed = 1; seed <= MOST_SEEDS; seed += 1) {
        const { violations } = await new World(seed, design).run();
        if (violations.length > 0) return;
      }
      expect.fail(`${MOST_SEEDS} histories of ${design} violated nothing`);
    },
    60_000,
  );

  it('are the same again from the same seed', async () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const first = await new World(seed, 'postgres').run();
      await new World(seed + 1, 'redis').run();
      const second = await new World(seed, 'postgres').run();
      expect(second).toEqual(first);
    }
  });
});
