/** The two functions that the suites need. vitest, jest, mocha and node:test have them. */
export interface TestRunner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: (name: string, body: () => Promise<void>) => unknown;
}

/** @throws TypeError if the globals `describe` and `it` are missing. The message names `suite` */
export function globalRunner(suite: string): TestRunner {
  const { describe, it } = globalThis as Partial<TestRunner>;
  if (describe === undefined || it === undefined)
    throw new TypeError(`${suite} needs \`describe\` and \`it\`: pass them as its last argument`);
  return { describe, it };
}
