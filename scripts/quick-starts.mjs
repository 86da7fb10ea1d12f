/** `pnpm quick-starts [--only express,koa]`: follows the quick starts as a reader would, from an empty folder and tarballs. */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build, ROOT, run } from './bootstrap.mjs';

const { values } = parseArgs({ options: { only: { type: 'string', default: 'all' } } });
await build();
process.env.PAYLINK_QUICK_STARTS = values.only;
process.exitCode = await run(process.execPath, [
  join(ROOT, 'node_modules', 'vitest', 'vitest.mjs'),
  'run',
  'test/docs/quick-start.test.ts',
]);
