/**
 * `pnpm attacks`: prints the tests of each attack and fault, from the reports of `npm test`, of
 * `npm test -- --long` and of `npm test -- --measured`. A row's tests have its id as a tag, or in
 * their title if `testAdapter` made them. Fails if a row has no passed test.
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

/** The host of a suite that runs on every host, otherwise the package or the folder. */
const placeOf = (file, [suite]) =>
  (/^test\/adapters\//.test(file) && suite?.replaceAll("'", '')) ||
  file.split('/').slice(0, 2).join('/');

for (const report of ['core', 'short', 'long', 'measured']) {
  const path = `node_modules/.cache/paylink-tests/${report}.json`;
  if (!existsSync(join(ROOT, path))) continue;
  for (const { name, assertionResults } of readJson(path).testResults)
    for (const { status, title, tags, ancestorTitles } of assertionResults) {
      if (status !== 'passed') continue;
      for (const id of new Set([...tags, title.slice(0, 3)])) {
        const row = rows.get(id);
        if (row === undefined) continue;
        row.passed += 1;
        row.places.add(placeOf(relative(ROOT, name), ancestorTitles));
      }
    }
}

for (const [id, { text, passed, places }] of rows)
  console.log(
    `${id} ${String(passed).padStart(5)}  ${text}\n            ${[...places].join(', ')}`,
  );

const missing = [...rows].filter(([, { passed }]) => passed === 0).map(([id]) => id);
if (missing.length > 0) console.error(`Rows without a passed test: ${missing.join(', ')}`);
console.log(`${rows.size} rows, ${missing.length} without a passed test`);
process.exitCode = missing.length > 0 ? 1 : 0;
