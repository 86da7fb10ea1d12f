/** What is mutated, and by which tests a mutant is to be noticed: those of the package that the rule belongs to. */
export interface Target {
  readonly name: string;
  /** A folder, from the root of the repository. */
  readonly sources: string;
  /** Globs. */
  readonly tests: readonly string[];
  /** Tests that run once more on WebCrypto, as a Worker does. */
  readonly onWebCrypto?: readonly string[];
  /** The least percentage of mutants that are noticed. Without it: all but those of survivors.json. */
  readonly least?: number;
}

function ofPackage(name: string): Target {
  return { name, sources: `packages/${name}/src/`, tests: [`packages/${name}/test/**/*.test.ts`] };
}

export const TARGETS: readonly Target[] = [
  { ...ofPackage('core'), onWebCrypto: ['packages/core/test/{hmac,secret,signature,verifier}.test.ts'] },
  ...['node', 'fetch', 'express', 'fastify', 'koa', 'hono', 'next', 'nest', 'lambda'].map(ofPackage),
  ...['postgres', 'redis', 'client'].map((name) => ({ ...ofPackage(name), least: 90 })),
];
