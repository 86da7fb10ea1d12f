/** Checks that docs/hosts.md has the built projects and the versions of the last run. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { hosts } from './hosts.js';
import { betweenMarks, cellsOf, limits, sections } from './page.js';
import { versions } from './versions.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(root, 'docs/hosts.md'), 'utf8');

describe('docs/hosts.md', () => {
  it('has a row for each host, run with the version of now, without a fault', () => {
    const rows = cellsOf(betweenMarks(page, 'tried')).map(([name, version, , , faults]) => [
      name,
      version,
      faults,
    ]);
    expect(rows).toEqual(hosts.map(({ name, version }) => [name, versions[version], '0']));
  });

  it('has the figures of the home page', () => {
    const tried = cellsOf(betweenMarks(page, 'tried')).map(([, , , attacks]) => attacks);
    const home = readFileSync(join(root, 'docs/index.md'), 'utf8');
    expect(new Set(tried).size).toBe(1);
    expect(home).toContain(`${tried[0]!} attacks on each of ${tried.length} hosts`);
  });

  it('includes the file of each host that matters, with its note', () => {
    expect(betweenMarks(page, 'sections').trim()).toBe(sections());
    expect(hosts.filter(({ id, shows }) => !page.includes(`projects/${id}/${shows} [`))).toEqual(
      [],
    );
  });

  it('has the limits of the hosts', () => {
    expect(cellsOf(betweenMarks(page, 'limits'))).toEqual(cellsOf(limits()));
  });
});
