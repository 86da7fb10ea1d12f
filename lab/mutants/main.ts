/**
 * Plants the faults of faults.ts in a copy of the checkout, one at a time, and then lets Stryker
 * plant its own. Exits with 1 if no test notices a fault, with 2 if a fault fits no code.
 *
 *     pnpm lab mutants
 *     pnpm lab mutants --only core/src/verify   the faults of these files, without Stryker
 *     pnpm lab mutants --force                  options of `stryker run`
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { execFileSync, spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { PNPM, ROOT, run } from '../../scripts/bootstrap.mjs';
import { HOSTS, suitesOf } from '../../scripts/check.mjs';
import { FAULTS, type PlantedFault } from './faults.js';

const COPY = join(ROOT, '.cache/faults');

const [option, value = ''] = process.argv.slice(2);
const isChosen = option === '--only';
const chosen = FAULTS.filter(({ file }) => !isChosen || file.includes(value));
const stale = chosen.filter(({ file, search }) => sourceOf(ROOT, file).split(search).length !== 2);
for (const { file, search } of stale) console.error(`not once in packages/${file}: ${search}`);
if (stale.length > 0 || chosen.length === 0) process.exit(2);

copyCheckout();
const survivors: PlantedFault[] = [];
for (const name of new Set(chosen.map(({ file }) => packageOf(file)))) {
  if (isNoticed(name)) throw new Error(`the tests of ${name} fail without a fault`);
  for (const fault of chosen.filter(({ file }) => packageOf(file) === name)) {
    const source = sourceOf(COPY, fault.file);
    const path = join(COPY, 'packages', fault.file);
    writeFileSync(
      path,
      source.replace(fault.search, () => fault.replace),
    );
    const noticed = isNoticed(name);
    writeFileSync(path, source);
    console.log(`${noticed ? 'noticed ' : 'SURVIVED'} ${fault.file}: ${fault.harm}`);
    if (!noticed) survivors.push(fault);
  }
}
rmSync(COPY, { recursive: true, force: true });
console.log(`${chosen.length - survivors.length} of ${chosen.length} faults noticed`);
const code = isChosen
  ? 0
  : await run(process.execPath, [
      join(ROOT, 'node_modules/@stryker-mutator/core/bin/stryker.js'),
      ...['run', 'lab/mutants/stryker.config.mjs', ...process.argv.slice(2)],
    ]);
process.exitCode = survivors.length > 0 ? 1 : code;

function sourceOf(root: string, file: string): string {
  const path = join(root, 'packages', file);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

function packageOf(file: string): string {
  return file.slice(0, file.indexOf('/'));
}

/** A fault must never stand in the checkout itself, where somebody could commit it. */
function copyCheckout(): void {
  rmSync(COPY, { recursive: true, force: true });
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT });
  for (const file of listed.toString().trim().split('\n')) {
    if (!existsSync(join(ROOT, file))) continue;
    mkdirSync(dirname(join(COPY, file)), { recursive: true });
    cpSync(join(ROOT, file), join(COPY, file));
  }
  const install = ['-y', PNPM, 'install', '--frozen-lockfile', '--prefer-offline', '--silent'];
  execFileSync('npx', install, { cwd: COPY, stdio: 'inherit' });
}

/** Returns true if a test of the package fails, or a test of the suites that its hosts run. */
function isNoticed(name: string): boolean {
  const others = name === 'payments' ? ['test/orders/memory', 'test/money/faults'] : [];
  if (isFailing([`packages/${name}/`, ...others])) return true;
  const hosts: string | undefined = (HOSTS as Readonly<Record<string, string>>)[name];
  return hosts !== undefined && isFailing(suitesOf([hosts]), { PAYLINK_HOSTS: hosts });
}

function isFailing(tests: readonly string[], env: Readonly<Record<string, string>> = {}): boolean {
  const vitest = join(COPY, 'node_modules/vitest/vitest.mjs');
  const { status } = spawnSync(process.execPath, [vitest, 'run', '--bail=1', ...tests], {
    cwd: COPY,
    env: { ...process.env, PAYLINK_TESTS: 'short', ...env },
    stdio: 'ignore',
  });
  return status !== 0;
}
