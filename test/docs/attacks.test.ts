import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { attacksPage } from '../../scripts/attacks-page.mjs';

const page = readFileSync(new URL('../../docs/attacks.md', import.meta.url), 'utf8');

/** The lines without the padding of the columns, which prettier adds. */
function linesOf(markdown: string): string[] {
  const lines = markdown.split('\n').map((line) => line.replace(/ +/g, ' ').replace(/-{3,}/g, '---').trim());
  return lines.filter((line) => line !== '');
}

// That each row has a test is up to scripts/attack-matrix.mjs, which also knows whether the test ran.
it('docs/attacks.md has each row as the table has it, with all tests that name the row: else run node scripts/attacks-page.mjs', () => {
  expect(linesOf(page)).toEqual(linesOf(attacksPage()));
});
