import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export interface Bundle {
  readonly path: string;
  remove(): Promise<void>;
}

/**
 * Bundles receiver-process.ts with its imports into one file. Processes start in a third of the
 * time, so more can be killed.
 */
export async function bundleReceiver(): Promise<Bundle> {
  const folder = await mkdtemp(join(tmpdir(), 'paylink-durability-'));
  const path = join(folder, 'receiver.mjs');
  await build({
    entryPoints: [at('./receiver-process.ts')],
    outfile: path,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: ['pg-native'],
    // Express and pg are CommonJS, and `require` Node's own modules.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    conditions: ['@paylink/source', 'module'],
    logLevel: 'error',
  });
  return { path, remove: () => rm(folder, { recursive: true, force: true }) };
}
