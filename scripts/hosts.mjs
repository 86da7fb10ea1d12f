/** `pnpm hosts`: test/hosts/main.ts, on packages that are built from the sources as they are. */
import { join } from 'node:path';
import { build, install, ROOT, run } from './bootstrap.mjs';

await install();
await build();
const main = join(ROOT, 'test', 'hosts', 'main.ts');
process.exitCode = await run(process.execPath, [
  '--conditions=@paylink/source',
  '--import',
  'tsx',
  main,
  ...process.argv.slice(2),
]);
