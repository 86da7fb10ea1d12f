/** Bundles scripts of the tests with the packages' sources. */
import { mkdtemp, mkdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { SOURCE } from '../../scripts/source.mjs';

export interface Bundle {
  readonly path: string;
  remove(): Promise<void>;
}

const TESTS = fileURLToPath(new URL('..', import.meta.url));

/** Drivers and frameworks stay outside: they load files of their own. */
async function externals(): Promise<string[]> {
  const manifest = JSON.parse(await readFile(join(TESTS, 'package.json'), 'utf8')) as {
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  return Object.keys(manifest.devDependencies).filter((name) => !name.startsWith('@paylink/'));
}

/** Returns an ES module, which starts in a third of the time that the sources take. */
export async function bundleScript(script: URL): Promise<Bundle> {
  const name = basename(script.pathname, '.ts');
  const { folder, remove } = await bundleScripts({ [name]: script });
  return { path: join(folder, `${name}.js`), remove };
}

/** Bundles several scripts, which share their modules. */
export async function bundleScripts(
  scripts: Readonly<Record<string, URL>>,
): Promise<{ readonly folder: string; readonly remove: () => Promise<void> }> {
  await mkdir(join(TESTS, '.cache'), { recursive: true });
  const folder = await mkdtemp(join(TESTS, '.cache', 'bundle-'));
  await build({
    entryPoints: Object.fromEntries(
      Object.entries(scripts).map(([name, script]) => [name, fileURLToPath(script)]),
    ),
    outdir: folder,
    bundle: true,
    // A dynamic import stays one.
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: await externals(),
    // raw-body is CommonJS, and loads Node's modules by `require`.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    conditions: [SOURCE, 'module'],
    logLevel: 'error',
  });
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
