/**
 * Makes docs/attacks.md: each row of the table of attacks, its answer, and the test files that name the
 * row. A test's title ends with the ids of its rows in brackets. A table of cases may give each id.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DOCS } from './pages.js';

interface Row {
  readonly title: string;
  readonly answer: string;
  readonly applies: string;
}

const ROOT = join(DOCS, '..');
const SECTIONS: Readonly<Record<string, string>> = {
  A: 'Signature header',
  B: 'Secret',
  C: 'Bytes of the body',
  D: 'Transport',
  E: 'Event header',
  F: 'Misuse of the host',
  G: 'Faults of the handler',
  H: 'Replays, duplicates, order',
  I: 'Faults of the store',
  J: 'Logs, oracles, side channels',
  K: 'Packaging',
  L: 'The API client',
  M: 'Emulator and testing',
  N: 'Stores, tenants and set-up',
  O: 'Credits, hosts and tools',
};

function readRows(): Record<string, Row> {
  const text = readFileSync(join(ROOT, 'packages/testing/src/attacks/rows.json'), 'utf8');
  return JSON.parse(text) as Record<string, Row>;
}

/** The ids of the rows that the titles in a file's text name. */
function rowsOf(text: string): Set<string> {
  const titles =
    text.match(/['"`][A-O]\d{2}(?: [A-O]\d{2})*[ '"`]|\((?:%s, )?(?:[A-O]\d{2}(?:, )?)+\)['"`]/g) ??
    [];
  return new Set(titles.flatMap((title) => title.match(/[A-O]\d{2}/g) ?? []));
}

function* filesUnder(folder: string): Generator<string> {
  for (const entry of readdirSync(join(ROOT, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory() && !['node_modules', 'dist', 'attacks'].includes(entry.name))
      yield* filesUnder(path);
    else if (/(\.test|-suite|\/adapter)\.tsx?$/.test(path) && !path.includes('/src/audit/'))
      yield path;
  }
}

export function attacksPage(): string {
  const files = new Map<string, string[]>();
  for (const path of ['packages', 'test', 'examples', 'lab']
    .flatMap((folder) => [...filesUnder(folder)])
    .sort()) {
    for (const row of rowsOf(readFileSync(join(ROOT, path), 'utf8')))
      files.set(row, [...(files.get(row) ?? []), path]);
  }
  const lines = [
    '# Attacks and faults',
    '',
    'Every attack and fault that Paylink is tested against, with its answer and its tests. "Receivers" are all adapters. Their rows run',
    'on every host over real sockets. `node scripts/attack-matrix.mjs` prints the rows that ran on each host, and',
    '`pnpm docs:write` writes this page from the table of the attack kit.',
  ];
  let section = '';
  for (const [id, { title, answer, applies }] of Object.entries(readRows())) {
    const letter = id.charAt(0);
    if (letter !== section) {
      section = letter;
      lines.push(
        '',
        `## ${section}. ${SECTIONS[section]}`,
        '',
        '| row | attack or fault | answer | applies to | tests |',
        '| --- | --- | --- | --- | --- |',
      );
    }
    const tests = (files.get(id) ?? []).map((path) => `[${path}](../${path})`).join('<br>');
    lines.push(
      `| ${id} | ${[title, answer, applies, tests].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`,
    );
  }
  return `${lines.join('\n')}\n`;
}
