/**
 * Runs a proof, in its short form unless `--long` or other options are given:
 *
 *     pnpm lab                             the names
 *     pnpm lab kills --long
 *     pnpm lab simulation --seed 4711
 *     pnpm lab all                         the short form of each proof, and one table
 */
import type { SpawnOptions } from 'node:child_process';
import { columns } from './durability/printing.js';
import { judge, LABS, type Lab, type Output } from './labs.js';
import { build, install, ROOT, run } from '../scripts/bootstrap.mjs';

const [name = '', ...options] = process.argv.slice(2);
const lab = Object.hasOwn(LABS, name) ? LABS[name] : undefined;
if (name === 'all') process.exitCode = await proveAll();
else if (lab === undefined) process.exitCode = list();
else process.exitCode = (await runLab(lab, argsOf(lab), { stdio: 'inherit' })).code;

function list(): number {
  for (const [each, { what }] of Object.entries(LABS)) console.log(`${each.padEnd(16)}${what}`);
  console.log(`${'all'.padEnd(16)}the short form of each proof, and one table`);
  return name === '' ? 0 : 2;
}

function argsOf({ short, long }: Lab): readonly string[] {
  if (options[0] === '--long') return [...long, ...options.slice(1)];
  return options.length > 0 ? options : short;
}

async function runLab(
  { file, always = [], isBuilt = false }: Lab,
  args: readonly string[],
  how: SpawnOptions,
): Promise<Output> {
  if (isBuilt) {
    await install();
    await build();
  }
  const pieces: Buffer[] = [];
  const condition = isBuilt && file.startsWith('bench/') ? [] : ['--conditions=@paylink/source'];
  const command = [...condition, '--import', 'tsx', `lab/${file}`, ...always, ...args];
  const code = await run(process.execPath, command, { cwd: ROOT, ...how }, (piece) => {
    pieces.push(piece);
  });
  return { code, text: Buffer.concat(pieces).toString('utf8') };
}

async function proveAll(): Promise<number> {
  const rows: string[][] = [];
  let fellShort = 0;
  for (const [each, proof] of Object.entries(LABS).filter(([, { isProof }]) => isProof)) {
    console.error(`${each} …`);
    const started = performance.now();
    const { count, short, absent } = await judge(proof, (args) =>
      runLab(proof, args, { stdio: ['ignore', 'pipe', 'pipe'] }),
    );
    const seconds = ((performance.now() - started) / 1_000).toFixed(0);
    if (short.length > 0) fellShort++;
    rows.push([each, count, proof.what, String(short.length || ''), seconds]);
    for (const text of [...short.map((said) => `\n== ${each} fell short\n${said}`), ...absent])
      console.log(text);
  }
  console.log(columns(['lab', 'how many', 'what', 'fell short', 'seconds'], rows));
  console.log(`${rows.length} proofs, ${fellShort} fell short`);
  return fellShort > 0 ? 1 : 0;
}
