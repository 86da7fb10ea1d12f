/**
 * Runs a proof, in its short form unless you pass `--long` or other options:
 *
 *     pnpm lab                             the names
 *     pnpm lab kills --long
 *     pnpm lab simulation --seed 4711
 *     pnpm lab all                         the short forms of the main proofs
 *
 * A proof exits with 0 if everything holds, with 1 if something does not, and with 2 if an option
 * is wrong or no case ran.
 */
import { columns } from './columns.js';
import { PROOFS, type Proof } from './proofs.js';
import { ON_SOURCES } from '../scripts/source.mjs';
import { build, install, ROOT, run } from '../scripts/bootstrap.mjs';

const [name = '', ...options] = process.argv.slice(2);
const proof = Object.hasOwn(PROOFS, name) ? PROOFS[name] : undefined;
if (name === 'all') process.exitCode = await proveAll();
else if (proof === undefined) process.exitCode = list();
else process.exitCode = await prove(proof, options);

function list(): number {
  for (const [each, { what }] of Object.entries(PROOFS)) console.log(`${each.padEnd(16)}${what}`);
  console.log(`${'all'.padEnd(16)}the short forms of the main proofs`);
  return name === '' ? 0 : 2;
}

async function prove(
  { file, always = [], short = [], long = [], env = {}, isBuilt = false }: Proof,
  [first, ...others]: readonly string[],
): Promise<number> {
  if (isBuilt) {
    await install();
    await build();
  }
  const form =
    first === undefined ? short : first === '--long' ? [...long, ...others] : [first, ...others];
  const source = isBuilt && file.startsWith('bench/') ? ['--import', 'tsx'] : ON_SOURCES;
  const command = [...source, `lab/${file}`, ...always, ...form];
  return run(process.execPath, command, { cwd: ROOT, env: { ...process.env, ...env } });
}

async function proveAll(): Promise<number> {
  const rows: string[][] = [];
  for (const [each, proof] of Object.entries(PROOFS).filter(([, { inAll }]) => inAll)) {
    console.log(`\n== ${each}`);
    const started = performance.now();
    const code = await prove(proof, []);
    const seconds = ((performance.now() - started) / 1_000).toFixed(0);
    rows.push([each, code === 0 ? 'holds' : `exit code ${code}`, seconds]);
  }
  console.log(`\n${columns(['proof', 'result', 'seconds'], rows)}`);
  return rows.every(([, result]) => result === 'holds') ? 0 : 1;
}
