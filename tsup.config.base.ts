import type { Options } from 'tsup';

/** Log lines point to a page of the repository that releases them, and built elsewhere to none. */
const { GITHUB_REPOSITORY: repository, GITHUB_SERVER_URL: server = 'https://github.com' } =
  process.env;
const RELEASED =
  repository === undefined
    ? {}
    : { PAYLINK_ERRORS_PAGE: JSON.stringify(`${server}/${repository}/blob/main/docs/errors.md`) };

/** How every package is built: ESM and CJS, and types for both. */
export function build(entry: string[], options: Options = {}): Options {
  return {
    entry,
    format: ['esm', 'cjs'],
    // `pnpm types` checks all types. A second check here takes a quarter of the build.
    dts: { compilerOptions: { noCheck: true } },
    clean: true,
    target: 'es2022',
    platform: 'node',
    splitting: false,
    sourcemap: false,
    // `node:` must stay: without it a bundler for a Worker would not know the module.
    removeNodeProtocol: false,
    tsconfig: 'tsconfig.build.json',
    define: RELEASED,
    ...options,
  };
}
