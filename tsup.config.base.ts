import type { Options } from 'tsup';

/**
 * Log lines point to the repository that releases them. Built elsewhere, to the page's path in
 * whatever repository that is.
 */
const { GITHUB_REPOSITORY: repository, GITHUB_SERVER_URL: server = 'https://github.com' } =
  process.env;
const ERRORS_PAGE = `${repository === undefined ? '' : `${server}/${repository}/blob/main/`}docs/errors.md`;

/** How every package is built: ESM and CJS, and types for both. */
export function build(entry: string[], options: Options = {}): Options {
  return {
    entry,
    format: ['esm', 'cjs'],
    dts: true,
    clean: true,
    target: 'es2022',
    platform: 'node',
    splitting: false,
    sourcemap: false,
    // `node:` must stay: without it a bundler for a Worker would not know the module.
    removeNodeProtocol: false,
    tsconfig: 'tsconfig.build.json',
    define: { PAYLINK_ERRORS_PAGE: JSON.stringify(ERRORS_PAGE) },
    ...options,
  };
}
