/**
 * Prints which attack is tried on which host, from the reports of `npm test` and `npm test -- --long`.
 * Fails if a row of the table of attacks has no test that passed: a title names the ids of its rows in
 * brackets, and an attack of the kit begins with its id.
 */
import { readFileSync } from 'node:fs';

const rows = Object.keys(
  JSON.parse(
    readFileSync(new URL('../packages/testing/src/attacks/rows.json', import.meta.url), 'utf8'),
  ),
);
const sections = {};
for (const row of rows) (sections[row[0]] ??= []).push(row);
const reports = ['short', 'long'].map((name) => {
  const file = new URL(`../node_modules/.cache/paylink-tests/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8'));
});

/** Tests that passed, by row and by where they ran: a host of the shared suite, or a package. */
const passed = new Map(rows.map((row) => [row, new Map()]));
for (const { name, assertionResults } of reports.flatMap(({ testResults }) => testResults)) {
  for (const { ancestorTitles, title, status } of assertionResults) {
    if (status !== 'passed') continue;
    // In brackets at the end of a title or of a suite's title, or in front of an attack of the kit.
    const titles = [...ancestorTitles, title].join(' ');
    const inBrackets = titles.match(/\((?:[A-O]\d{2}(?:, )?)+\)/g) ?? [];
    const named = [...inBrackets, title.match(/^(?:[A-O]\d{2} )+/)?.[0] ?? ''].join(' ');
    for (const row of new Set(named.match(/[A-O]\d{2}/g))) {
      const places = passed.get(row);
      const place = placeOf(name, ancestorTitles);
      places?.set(place, (places.get(place) ?? 0) + 1);
    }
  }
}

function placeOf(path, [suite = '']) {
  const inPackage = /\/(?:packages|examples)\/([^/]+)\//.exec(path)?.[1];
  return inPackage ?? suite.replaceAll("'", '');
}

const places = [...new Set([...passed.values()].flatMap((counts) => [...counts.keys()]))]
  .filter((place) => place !== '')
  .sort();
const width = Math.max(...places.map((place) => place.length));
for (const ids of Object.values(sections)) {
  console.log(`\n${''.padEnd(width)}  ${ids.map((id) => id.padStart(4)).join(' ')}`);
  for (const place of places) {
    const counts = ids.map((id) => String(passed.get(id).get(place) ?? '·').padStart(4));
    if (counts.some((count) => count.trim() !== '·'))
      console.log(`${place.padEnd(width)}  ${counts.join(' ')}`);
  }
}

const missing = rows.filter((row) => passed.get(row).size === 0);
if (missing.length > 0) {
  console.error(`\nRows without a test: ${missing.join(', ')}`);
  process.exitCode = 1;
} else console.log(`\nEvery one of the ${rows.length} rows has a test that passed.`);
