/** Bundles the sources of the command and of a merchant's module once for every test of a run. */
import { cp, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build, type BuildOptions } from 'esbuild';
import type { TestProject } from 'vitest/node';
import { SOURCE } from '../../../scripts/source.mjs';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const OPTIONS: BuildOptions = {
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  conditions: [SOURCE, 'module'],
  // commander is CommonJS, and loads Node's modules by `require`.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
  },
};

const filter = (path: string): boolean => !/[\\/](?:node_modules|\.cache)$/.test(path);

/** Bundles for vitest's workers, which inherit the environment. */
export default async function setup(
  project: TestProject,
): Promise<(() => Promise<void>) | undefined> {
  // Another project of this run has bundled them.
  if (process.env['PAYLINK_COMMAND'] !== undefined) return undefined;
  const outdir = at(`../.cache/${process.pid}`);
  process.env['PAYLINK_COMMAND'] = `${outdir}/paylink.mjs`;
  const bundle = async (): Promise<void> => {
    // Most tests run the program in their own process, because processes start slowly.
    const entryPoints = { paylink: at('../src/main.ts'), program: at('../src/program.ts') };
    await build({ ...OPTIONS, outdir, entryPoints });
    // A process of its own runs this one, under the name that the package has for it.
    const caller = at('../../testing/src/schedules/caller.ts');
    await build({ ...OPTIONS, outExtension: {}, outdir, entryPoints: { caller } });
    // Apart, because a merchant's module may load other versions of our packages.
    await build({ ...OPTIONS, outdir, entryPoints: { shop: at('shop/payments.ts') } });
    // `init` reads these files as they are for a project in TypeScript.
    await cp(at('../templates'), `${outdir}/templates`, { recursive: true });
    await cp(at('../../../examples/databases'), `${outdir}/recipes`, { recursive: true, filter });
  };
  await bundle();
  project.onTestsRerun(bundle);
  return () => rm(outdir, { recursive: true });
}
