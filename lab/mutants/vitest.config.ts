import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { NearestFirst } from './nearest-first.js';

/** What lab/mutants/run.ts says of one target. */
const { tests, onWebCrypto } = JSON.parse(process.env['PAYLINK_MUTANTS_TESTS']!) as Record<
  'tests' | 'onWebCrypto',
  string[]
>;

function project(
  name: string,
  include: string[],
  ...conditions: string[]
): TestProjectInlineConfiguration {
  const resolve = {
    conditions: ['@paylink/source', ...conditions, 'node', 'development|production'],
  };
  // These read the sources as text, where every mutant stands at once, find by chance what a stated
  // case is to find, build, or take many seconds by design, which each survivor would take again.
  const names = ['sources', 'fuzz', 'network-faults', 'next-15', 'limited-server'];
  const exclude = ['**/node_modules/**', ...names.map((name) => `**/${name}.test.ts`)];
  return { resolve, ssr: { resolve }, test: { name, include, exclude, testTimeout: 8_000 } };
}

export default defineConfig({
  test: {
    projects: [
      project('Node', tests),
      ...(onWebCrypto.length > 0 ? [project('WebCrypto', onWebCrypto, 'workerd')] : []),
    ],
    sequence: { sequencer: NearestFirst },
  },
});
