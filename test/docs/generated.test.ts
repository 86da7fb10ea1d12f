import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { generated } from '../../docs/.vitepress/generated.js';

const root = new URL('../../', import.meta.url);

it('every generated document matches the output of `pnpm docs:write`', async () => {
  const files = [...(await generated())];
  const stale = files.filter(([path, text]) => readFileSync(new URL(path, root), 'utf8') !== text);
  expect(files.length).toBeGreaterThan(20);
  expect(stale.map(([path]) => path)).toEqual([]);
}, 60_000);
