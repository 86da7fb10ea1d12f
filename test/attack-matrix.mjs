/**
 * Prints the attacks per host, from the reports of `npm test` and `npm test -- --long`. Fails if a
 * row of the table of attacks has no passed test, or if an entry of test/attacks.json matches no
 * test. Titles of the attack kit begin with their row, so that file does not list them.
 */
import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const readJson = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'));

const rows = Object.keys(readJson('packages/testing/src/attacks/rows.json'));
const sections = {};
for (const row of rows) (sections[row[0]] ??= []).push(row);

/** The results by file, relative to the root. A file can run in several projects. */
const results = new Map();
for (const report of ['short', 'long']) {
  const { testResults } = readJson(`node_modules/.cache/paylink-tests/${report}.json`);
  for (const { name, assertionResults } of testResults) {
    const file = relative(root, name).split(sep).join('/');
    const tests = assertionResults.map((result) => ({
      ...result,
      place: placeOf(file, result.ancestorTitles),
    }));
    results.set(file, [...(results.get(file) ?? []), ...tests]);
  }
}

/** The tests of each row. Two entries can match one test. */
const testsOf = new Map(rows.map((row) => [row, new Set()]));
const unmatched = [];

for (const test of [...results.values()].flat())
  for (const row of kitRowsOf(test.title)) testsOf.get(row)?.add(test);

for (const [row, entries] of Object.entries(readJson('test/attacks.json')))
  for (const entry of entries) {
    const [file, title] = entry.split(' › ');
    const pattern = patternOf(title);
    const tests = (results.get(file) ?? []).filter(({ ancestorTitles, title }) =>
      [...ancestorTitles, title].some((text) => pattern.test(text)),
    );
    if (tests.length === 0 || !testsOf.has(row)) unmatched.push(`${row}: ${entry}`);
    for (const test of tests) testsOf.get(row)?.add(test);
  }

function kitRowsOf(title) {
  return /^(?:[A-O]\d{2} )+/.exec(title)?.[0].trim().split(' ') ?? [];
}

/** Turns an entry into a pattern. `%s` matches any text, as in the title of a table of cases. */
function patternOf(title) {
  const texts = title.split('%s').map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${texts.join('.*')}$`, 's');
}

/** Passed tests, by row and by host or package. */
const passed = new Map(
  rows.map((row) => {
    const places = new Map();
    for (const { status, place } of testsOf.get(row))
      if (status === 'passed') places.set(place, (places.get(place) ?? 0) + 1);
    return [row, places];
  }),
);

function placeOf(file, [suite = '']) {
  return /^(?:packages|examples)\/([^/]+)\//.exec(file)?.[1] ?? suite.replaceAll("'", '');
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
if (unmatched.length > 0) {
  console.error('\nEntries of test/attacks.json that match no test or no row. Was a test renamed?');
  for (const entry of unmatched) console.error(`  ${entry}`);
  process.exitCode = 1;
}
if (missing.length > 0) {
  console.error(`\nRows without a test that passed: ${missing.join(', ')}`);
  process.exitCode = 1;
}
if (!process.exitCode)
  console.log(`\nEvery one of the ${rows.length} rows has a test that passed.`);
