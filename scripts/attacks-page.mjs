/** Makes docs/attacks.md: each row of the table of attacks, its answer, and its files of test/attacks.json. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';

const root = fileURLToPath(new URL('..', import.meta.url));
const SECTIONS = {
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

function readRows() {
  return JSON.parse(readFileSync(join(root, 'packages/testing/src/attacks/rows.json'), 'utf8'));
}

/** The test files of each row, from test/attacks.json. */
function readTestFiles() {
  const entries = JSON.parse(readFileSync(join(root, 'test/attacks.json'), 'utf8'));
  return Object.fromEntries(
    Object.entries(entries).map(([row, tests]) => [
      row,
      [...new Set(tests.map((test) => test.split(' › ')[0]))].sort(),
    ]),
  );
}

export function attacksPage() {
  const files = readTestFiles();
  const lines = [
    '# Attacks and faults',
    '',
    'Every attack and fault that Paylink is tested against, with its answer and its tests. "Receivers" are all adapters. Their rows run',
    'on every host over real sockets. `node scripts/attack-matrix.mjs` prints the rows that ran on each host, and',
    '`node scripts/docs-write.mjs` writes this page from the table of the attack kit.',
  ];
  let section = '';
  for (const [id, { title, answer, applies }] of Object.entries(readRows())) {
    if (id[0] !== section) {
      section = id[0];
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
