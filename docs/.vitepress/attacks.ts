/**
 * Makes docs/attacks.md: each row of the table of attacks, its answer, and its files of
 * test/attacks.json.
 */
import { readFileSync } from 'node:fs';
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

/** The test files of each row, from test/attacks.json. */
function readTestFiles(): Record<string, string[]> {
  const text = readFileSync(join(ROOT, 'test/attacks.json'), 'utf8');
  const entries = Object.entries(JSON.parse(text) as Record<string, string[]>);
  return Object.fromEntries(
    entries.map(([row, tests]) => [
      row,
      [...new Set(tests.map((test) => test.split(' › ')[0]!))].sort(),
    ]),
  );
}

export function attacksPage(): string {
  const files = readTestFiles();
  const lines = [
    '# Attacks and faults',
    '',
    'Every attack and fault that Paylink is tested against, with its answer and its tests. "Receivers" are all adapters. Their rows run',
    'on every host over real sockets. `node test/attack-matrix.mjs` prints the rows that ran on each host, and',
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
    const tests = (files[id] ?? []).map((path) => `[${path}](../${path})`).join('<br>');
    lines.push(
      `| ${id} | ${[title, answer, applies, tests].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`,
    );
  }
  return `${lines.join('\n')}\n`;
}
