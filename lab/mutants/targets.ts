/**
 * The sources to mutate, and the tests that must notice: those of the package that owns the rule.
 */
export interface Target {
  readonly name: string;
  /** A folder, relative to the repository's root. */
  readonly sources: string;
  /** Globs. */
  readonly tests: readonly string[];
  /** Hosts for the adapters' suite, which checks the mutants that `tests` do not notice. */
  readonly hosts?: readonly string[];
  /** Tests that run again on WebCrypto, as in a Worker. */
  readonly onWebCrypto?: readonly string[];
  /** Set if the tests share one PostgreSQL, each with its own databases. */
  readonly onPostgres?: boolean;
}

/** The least percentage of noticed mutants in each package. */
export const LEAST = 90;

function ofPackage(name: string): Target {
  return { name, sources: `packages/${name}/src/`, tests: [`packages/${name}/test/**/*.test.ts`] };
}

/**
 * Defines an adapter's target. An adapter is a thin layer on `node` or `fetch`, and the suite of
 * all hosts tests its promises over real sockets.
 */
function ofHosts(name: string, ...hosts: string[]): Target {
  return { ...ofPackage(name), hosts };
}

// Leaves out tests that compare hosts or take long by design.
export const ADAPTERS: readonly string[] = [
  'test/adapters/{body,event,handler,http2,invariants,logger,misuse,payments,results,set-up,signature,slow-senders}.test.ts',
  'test/adapters/{parser-behind-gate,transport}.test.ts',
];

export const TARGETS: readonly Target[] = [
  {
    ...ofPackage('core'),
    onWebCrypto: ['packages/core/test/{hmac,secret,vectors,verifier}.test.ts'],
  },
  // `node` implements gates, but node:http itself does not have one.
  ofHosts('node', 'node:http', 'Express 5 as a gate'),
  ofHosts('fetch', 'Fetch on Hono'),
  ofHosts('express', 'Express 5', 'Express 5 as a gate'),
  ofHosts('fastify', 'Fastify 5'),
  ofHosts('koa', 'Koa 3', 'Koa 3 as a gate'),
  ofHosts('hono', 'Hono', 'Hono as a gate'),
  ...['next', 'nest', 'lambda'].map(ofPackage),
  { ...ofPackage('postgres'), onPostgres: true },
  ...['payments', 'redis', 'client'].map(ofPackage),
];
