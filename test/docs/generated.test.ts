import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { generated } from '../../docs/.vitepress/generated.js';

const root = new URL('../../', import.meta.url);

it('has every generated document as `pnpm docs:write` writes it', async () => {
  const files = [...(await generated())];
  const stale = files.filter(([path, text]) => readFileSync(new URL(path, root), 'utf8') !== text);
  expect(files.length).toBeGreaterThan(20);
  expect(stale.map(([path]) => path)).toEqual([]);
}, 60_000);
