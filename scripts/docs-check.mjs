/** `pnpm docs:check`: builds the site, and looks at what was built: links, anchors, pages in Chromium, search. */
import { join } from 'node:path';
import { pnpm, ROOT, run } from './bootstrap.mjs';

const started = performance.now();
await pnpm(['run', 'docs:build']);
console.log(`The site is built, ${((performance.now() - started) / 1000).toFixed(1)} s`);

const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
const config = join(ROOT, 'test', 'site', 'vitest.config.ts');
process.exitCode = await run(process.execPath, [
  vitest,
  'run',
  '--config',
  config,
  ...process.argv.slice(2),
]);
