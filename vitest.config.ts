import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Core's tests run twice, once on each HMAC. Everything else takes @paylink packages as they are built and installed. */
function core(name: string, hmac: string) {
  return {
    // By its source, since @paylink/testing is no dependency of core: it knows core's types, and the other way would be a circle.
    resolve: {
      alias: {
        '#hmac': at(hmac),
        '#diagnose': at('./packages/core/src/diagnose.ts'),
        '@paylink/testing': at('./packages/testing/src/index.ts'),
      },
    },
    test: { name, include: ['packages/core/test/**/*.test.ts'] },
  };
}

export default defineConfig({
  test: {
    // One for each core of the smallest machine that this runs on.
    maxWorkers: 2,
    projects: [
      core('core on node:crypto', './packages/core/src/hmac.node.ts'),
      core('core on WebCrypto', './packages/core/src/hmac.web.ts'),
      {
        test: {
          name: 'packages',
          include: ['packages/*/test/**/*.test.ts', 'examples/*/test/**/*.test.ts'],
          exclude: ['packages/core/**', '**/node_modules/**'],
        },
      },
      { test: { name: 'across packages', include: ['test/**/*.test.ts'], exclude: ['**/node_modules/**'], testTimeout: 20_000 } },
    ],
  },
});
