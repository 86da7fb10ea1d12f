/** `npm start`: runs the demo from a fresh checkout. Runs the sources, so nothing is built. */
import { install, ROOT, run } from './bootstrap.mjs';
import { ON_SOURCES } from './source.mjs';

try {
  await install();
  const demo = [...ON_SOURCES, 'src/demo.ts', ...process.argv.slice(2)];
  // The root's tsconfig configures the JSX in the emulator's sources.
  const env = { ...process.env, TSX_TSCONFIG_PATH: `${ROOT}/tsconfig.json` };
  process.exitCode = await run(process.execPath, demo, { cwd: `${ROOT}/examples/shop`, env });
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
