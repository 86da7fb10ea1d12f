/** `npm start`: from a fresh checkout to the running demo. It runs on the sources, so nothing is built. */
import { tooOld } from './node-version.mjs';

const problem = tooOld();
if (problem !== undefined) {
  console.error(problem);
  process.exit(1);
}

// Only now, since an older Node cannot even parse it.
const { install, ROOT, run } = await import('./bootstrap.mjs');

try {
  await install();
  const demo = [
    '--conditions=@paylink/source',
    '--import',
    'tsx',
    'src/demo.ts',
    ...process.argv.slice(2),
  ];
  // The root's, for the JSX in the emulator's sources.
  const env = { ...process.env, TSX_TSCONFIG_PATH: `${ROOT}/tsconfig.json` };
  process.exitCode = await run(process.execPath, demo, { cwd: `${ROOT}/examples/shop`, env });
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
