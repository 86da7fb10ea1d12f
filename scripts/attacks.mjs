/**
 * `pnpm attacks`: prints the tests of each attack and fault, from the reports of `npm test`, of
 * `npm test -- --long` and of `npm test -- --measured`. The titles of a row's tests have its id, so
 * `npx vitest -t A01` runs the tests of row A01. Fails if a row has no passed test, or if a title
 * names no row.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ROOT } from './bootstrap.mjs';

const readJson = (path) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));

const rows = new Map(
  Object.entries(readJson('packages/testing/src/attacks/rows.json')).map(([id, text]) => [
    id,
    { text, passed: 0, places: new Set() },
  ]),
);
const unknown = new Set();

/** The host of a suite that runs on every host, otherwise the package or the folder. */
const placeOf = (file, [suite]) =>
  (/^test\/adapters\//.test(file) && suite?.replaceAll("'", '')) ||
  file.split('/').slice(0, 2).join('/');

for (const report of ['core', 'short', 'long', 'measured']) {
  const path = `node_modules/.cache/paylink-tests/${report}.json`;
  if (!existsSync(join(ROOT, path))) continue;
  for (const { name, assertionResults } of readJson(path).testResults)
    for (const { status, title, ancestorTitles } of assertionResults) {
      const file = relative(ROOT, name);
      for (const [id] of [...ancestorTitles, title]
        .join(' ')
        .matchAll(/(?<![\w-])[A-P]\d\d(?![\w-])/g)) {
        const row = rows.get(id);
        if (row === undefined) unknown.add(`${id} in ${file}: ${title}`);
        else if (status === 'passed') {
          row.passed += 1;
          row.places.add(placeOf(file, ancestorTitles));
        }
      }
    }
}

for (const [id, { text, passed, places }] of rows)
  console.log(
    `${id} ${String(passed).padStart(5)}  ${text}\n            ${[...places].join(', ')}`,
  );

const missing = [...rows].filter(([, { passed }]) => passed === 0).map(([id]) => id);
for (const test of unknown) console.error(`No row ${test}`);
if (missing.length > 0) console.error(`Rows without a passed test: ${missing.join(', ')}`);
console.log(`${rows.size} rows, ${missing.length} without a passed test`);
process.exitCode = missing.length + unknown.size > 0 ? 1 : 0;
