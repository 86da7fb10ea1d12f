import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { generated } from '../../scripts/docs-write.mjs';

const root = new URL('../../', import.meta.url);

it('every generated document matches the output of `node scripts/docs-write.mjs`', async () => {
  const files = [...(await generated())];
  const stale = files.filter(([path, text]) => readFileSync(new URL(path, root), 'utf8') !== text);
  expect(files.length).toBeGreaterThan(20);
  expect(stale.map(([path]) => path)).toEqual([]);
}, 60_000);
