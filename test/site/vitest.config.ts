import { defineConfig } from 'vitest/config';

/** What `pnpm docs:check` runs on the site that it has just built. */
export default defineConfig({
  resolve: { conditions: ['@paylink/source', 'node', 'module', 'development|production'] },
  ssr: { resolve: { conditions: ['@paylink/source', 'node', 'module', 'development|production'] } },
  test: {
    include: ['test/site/built/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
