/**
 * `pnpm proof`: the short form of every proof, one after the other, and one table of what ran, how many, and what fell short. Ends with 1
 * where something did. `--only NAME`, repeated, runs some of them. Each long form is in docs/durability.md or docs/security.md.
 */
import { ROOT, run } from './bootstrap.mjs';
import { readOptions } from './options.mjs';
import { PARTS, runPart } from './proof-parts.mjs';

const { values } = readOptions({
  options: { only: { type: 'string', multiple: true, default: [] } },
});
const chosen = PARTS.filter(({ name }) => values.only.length === 0 || values.only.includes(name));
if (chosen.length === 0) {
  console.error(`no part is called so. Valid parts: ${PARTS.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}

async function outputOf(args) {
  const pieces = [];
  const code = await run(
    process.execPath,
    args,
    { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] },
    (piece) => pieces.push(piece),
  );
  return { code, text: Buffer.concat(pieces).toString('utf8') };
}

const rows = [['part', 'how many', 'what', 'fell short', 'seconds']];
const details = [];
let shortParts = 0;
for (const part of chosen) {
  console.error(`${part.name} …`);
  const started = performance.now();
  const { count, short, absent } = await runPart(part, outputOf);
  const seconds = ((performance.now() - started) / 1_000).toFixed(0);
  if (short.length > 0) shortParts++;
  rows.push([part.name, count, part.what, short.length === 0 ? '' : `${short.length}`, seconds]);
  details.push(...short.map((text) => `\n== ${part.name} fell short\n${text}`), ...absent);
}
const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
for (const detail of details) console.log(detail);
for (const row of rows)
  console.log(
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  );
console.log(`${chosen.length} parts, ${shortParts} fell short`);
process.exitCode = shortParts > 0 ? 1 : 0;
