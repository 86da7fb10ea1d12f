import { readdirSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { SOURCE } from '../../scripts/source.mjs';

/**
 * Stryker mutates a copy of the checkout, in which the packages' links still lead to the checkout.
 * These aliases lead to the mutated sources.
 */
const sources = readdirSync('packages').flatMap((name) => [
  {
    find: new RegExp(`^@paylink/${name}$`),
    replacement: `${process.cwd()}/packages/${name}/src/index.ts`,
  },
  {
    find: new RegExp(`^@paylink/${name}/(.+)$`),
    replacement: `${process.cwd()}/packages/${name}/src/$1.ts`,
  },
]);
const resolve = {
  alias: sources,
  conditions: [SOURCE, 'node', 'development|production'],
};

export default defineConfig({
  resolve,
  ssr: { resolve },
  test: {
    include: ['packages/{core,payments}/test/**/*.test.ts'],
    // These read the sources as text, or find their cases by chance.
    exclude: ['**/node_modules/**', '**/{sources,fuzz}.test.ts'],
    testTimeout: 8_000,
  },
});
