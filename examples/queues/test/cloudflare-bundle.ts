import { builtinModules } from 'node:module';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/**
 * Bundles the Worker as Cloudflare's tools do: Node's modules are the runtime's own, also where
 * CommonJS asks for them.
 */
export async function bundleWorker(outfile: string): Promise<void> {
  await build({
    entryPoints: [fileURLToPath(new URL('../src/cloudflare.ts', import.meta.url))],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['@paylink/source', 'workerd', 'worker', 'browser'],
    external: ['cloudflare:*', 'node:*', 'pg-native'],
    plugins: [
      {
        name: 'node-modules-of-the-runtime',
        setup(bundler) {
          bundler.onResolve(
            { filter: new RegExp(`^(node:)?(${builtinModules.join('|')})$`) },
            ({ path, kind }) =>
              kind === 'require-call' || !path.startsWith('node:')
                ? { path: path.replace(/^node:/, ''), namespace: 'node' }
                : undefined,
          );
          bundler.onLoad({ filter: /.*/, namespace: 'node' }, ({ path }) => ({
            contents: `module.exports = process.getBuiltinModule('node:${path}');`,
          }));
        },
      },
    ],
  });
}
