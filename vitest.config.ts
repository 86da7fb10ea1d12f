import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Core's tests run twice, once on each HMAC. Everything else takes @paylink packages as they are built and installed. */
function core(name: string, hmac: string) {
  return {
    resolve: { alias: { '#hmac': at(hmac) } },
    test: { name, include: ['packages/core/test/**/*.test.ts'] },
  };
}

export default defineConfig({
  test: {
    projects: [
      core('core on node:crypto', './packages/core/src/hmac.node.ts'),
      core('core on WebCrypto', './packages/core/src/hmac.web.ts'),
      { test: { name: 'packages', include: ['packages/*/test/**/*.test.ts', 'examples/*/test/**/*.test.ts'], exclude: ['packages/core/**', '**/node_modules/**'] } },
      { test: { name: 'across packages', include: ['test/**/*.test.ts'], exclude: ['**/node_modules/**'], testTimeout: 20_000 } },
    ],
  },
});
