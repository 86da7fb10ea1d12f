/** `npm start`: from a fresh checkout to the running demo. */
import { tooOld } from './node-version.mjs';

const problem = tooOld();
if (problem !== undefined) {
  console.error(problem);
  process.exit(1);
}

// Only now, since an old Node could not even read it.
const { build, install, ROOT, run } = await import('./bootstrap.mjs');

try {
  await install();
  await build('example-shop^...');
  console.log();
  const demo = ['--import', 'tsx', 'src/demo.ts', ...process.argv.slice(2)];
  process.exitCode = await run(process.execPath, demo, { cwd: `${ROOT}/examples/shop` });
} catch (error) {
  console.error(error.message);
  process.exitCode = error.exitCode ?? 1;
}
