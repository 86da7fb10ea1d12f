import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
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
    // Bundles declarations, for which it needs no other types.
    dts: options.dts ?? {
      entry: declare(entry),
      compilerOptions: { noLib: true, noResolve: true, types: [] },
    },
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

const TSC = fileURLToPath(new URL('node_modules/typescript/bin/tsc', import.meta.url));
// `pnpm types` checks all types.
const OPTIONS = ['--noEmit', 'false', '--emitDeclarationOnly', '--noCheck'];

/** Writes declarations, with TypeScript 7 in a tenth of tsup's time. Returns them by entry. */
function declare(entry: readonly string[]): Record<string, string> {
  const folders = ['--rootDir', 'src', '--outDir', '.cache/types'];
  const args = [TSC, '--project', 'tsconfig.build.json', ...OPTIONS, ...folders];
  execFileSync(process.execPath, args, { stdio: 'inherit' });
  const names = entry.map((file) => file.slice('src/'.length, -'.ts'.length));
  return Object.fromEntries(names.map((name) => [name, `.cache/types/${name}.d.ts`]));
}
