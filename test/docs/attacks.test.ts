import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readRows, rowsOf } from '../../scripts/attacks-page.mjs';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/attacks.md', root), 'utf8');

describe('docs/attacks.md', () => {
  it.each(Object.entries(readRows()))('says of %s what the table says, and names tests that have it in a title', (id, row) => {
    const line = page.split('\n').find((each) => each.startsWith(`| ${id} |`));
    if (line === undefined) throw new Error(`the page lacks ${id}: write it again by node scripts/attacks-page.mjs`);
    for (const text of [row.title, row.answer, row.applies]) expect(line).toContain(text.replaceAll('|', '\\|'));
    const tests = Array.from(line.matchAll(/\]\(\.\.\/([^)]+)\)/g), ([, path]) => new URL(path!, root));
    // A row without a test is found by scripts/attack-matrix.mjs, which also knows whether the test ran.
    for (const test of tests) {
      expect(existsSync(test), test.pathname).toBe(true);
      expect(rowsOf(readFileSync(test, 'utf8'))).toContain(id);
    }
  });
});
