/**
 * What is mutated, and by which tests a mutant is to be noticed: those of the package that the rule
 * belongs to.
 */
export interface Target {
  readonly name: string;
  /** A folder, from the root of the repository. */
  readonly sources: string;
  /** Globs. */
  readonly tests: readonly string[];
  /**
   * Hosts by their names: what `tests` do not notice, the suite of the adapters is asked for on
   * these.
   */
  readonly hosts?: readonly string[];
  /** Tests that run once more on WebCrypto, as a Worker does. */
  readonly onWebCrypto?: readonly string[];
  /** Whether the tests share one PostgreSQL, each on databases of its own. */
  readonly onPostgres?: boolean;
  /**
   * The least percentage of mutants that are noticed. Without it: all but those of survivors.json.
   */
  readonly least?: number;
}

function ofPackage(name: string): Target {
  return { name, sources: `packages/${name}/src/`, tests: [`packages/${name}/test/**/*.test.ts`] };
}

/**
 * An adapter is a page on `node` or `fetch`, and what it promises is said by the suite of all
 * hosts, over real sockets.
 */
function ofHosts(name: string, ...hosts: string[]): Target {
  return { ...ofPackage(name), hosts };
}

// Not those that compare hosts with each other, or take their time by design.
export const ADAPTERS: readonly string[] = [
  'test/adapters/{body,event,handler,http2,invariants,logger,misuse,payments,results,set-up,signature,slow-senders}.test.ts',
  'test/adapters/{parser-behind-gate,transport}.test.ts',
];

export const TARGETS: readonly Target[] = [
  {
    ...ofPackage('core'),
    onWebCrypto: ['packages/core/test/{hmac,secret,vectors,verifier}.test.ts'],
  },
  // Gates are of `node`, and node:http itself has none.
  ofHosts('node', 'node:http', 'Express 5 as a gate'),
  ofHosts('fetch', 'Fetch on Hono'),
  ofHosts('express', 'Express 5', 'Express 5 as a gate'),
  ofHosts('fastify', 'Fastify 5'),
  ofHosts('koa', 'Koa 3', 'Koa 3 as a gate'),
  ofHosts('hono', 'Hono', 'Hono as a gate'),
  ...['next', 'nest', 'lambda'].map(ofPackage),
  { ...ofPackage('postgres'), onPostgres: true, least: 90 },
  ...['payments', 'redis', 'client'].map((name) => ({ ...ofPackage(name), least: 90 })),
];
