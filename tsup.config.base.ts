import type { Options } from 'tsup';

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
    ...options,
  };
}
