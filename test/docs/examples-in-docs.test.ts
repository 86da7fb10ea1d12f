import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { documentsWithCopies } from '../../docs/.vitepress/examples-in-docs.js';

const root = new URL('../../', import.meta.url);

it('every example in a document is the tested file of the repository', async () => {
  const documents = [...(await documentsWithCopies())];
  const stale = documents.filter(
    ([path, text]) => readFileSync(new URL(path, root), 'utf8') !== text,
  );
  expect(documents.length).toBeGreaterThan(0);
  expect(stale.map(([path]) => path)).toEqual([]);
});
