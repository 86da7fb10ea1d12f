import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import type { Reporter, Vitest } from 'vitest/node';
import { NearestFirst } from './nearest-first.js';

/** The settings of one target, from lab/mutants/run.ts. */
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
  // Leaves out tests that read the sources as text (all mutants are in it at once), that find
  // stated cases by chance, that build, or that take many seconds by design, once per survivor.
  const names = ['sources', 'fuzz', 'network-faults', 'next-15', 'limited-server'];
  const exclude = ['**/node_modules/**', ...names.map((name) => `**/${name}.test.ts`)];
  return { resolve, ssr: { resolve }, test: { name, include, exclude, testTimeout: 8_000 } };
}

/** Reports a failed set-up as an error, because Stryker counts failed tests, and none has run. */
function reportFailedSetUp(): Reporter {
  let vitest: Vitest;
  return {
    onInit(started) {
      vitest = started;
    },
    onTestModuleEnd(file) {
      const failed = [...file.children.allTests('failed')];
      if (file.state() === 'failed' && failed.length === 0)
        vitest.state.catchError(new Error(`the set-up of ${file.moduleId} failed`), 'set-up');
    },
  };
}

export default defineConfig({
  test: {
    reporters: [reportFailedSetUp()],
    projects: [
      project('Node', tests),
      ...(onWebCrypto.length > 0 ? [project('WebCrypto', onWebCrypto, 'workerd')] : []),
    ],
    sequence: { sequencer: NearestFirst },
  },
});
