/**
 * The two functions of a test runner that the suites need. vitest, jest, mocha and node:test all
 * have them.
 */
export interface TestRunner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: (name: string, body: () => Promise<void>) => unknown;
}

/** @throws TypeError without the globals `describe` and `it`, if `suite` got none. */
export function globalRunner(suite: string): TestRunner {
  const { describe, it } = globalThis as Partial<TestRunner>;
  if (describe === undefined || it === undefined)
    throw new TypeError(`${suite} needs \`describe\` and \`it\`: pass them as its last argument`);
  return { describe, it };
}
