/**
 * Measures the time that `import '@paylink/express'` adds to `import 'express'`, in fresh
 * alternating processes. `--rounds 21` sets the processes of each, at least 7. `--all` uses each
 * supported Node version. `--json` prints JSON.
 */
import { execFile, spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { parseArgs, promisify } from 'node:util';
import { install } from '../../test/runtimes/install.js';
import { nodes } from '../../test/runtimes/versions.js';
import { runRounds } from './rounds.js';
import { median } from './statistics.js';

const LEAST_ROUNDS = 7;

const FORMS = {
  import: (name: string) => `await import('${name}');`,
  require: (name: string) => `require('${name}');`,
} as const;

interface Cost {
  /** Milliseconds until everything is loaded. */
  readonly wall: number;
  /** Milliseconds of CPU time, which other work on the machine disturbs less. */
  readonly cpu: number;
}

interface Row {
  readonly node: string;
  readonly form: string;
  readonly express: Cost;
  readonly over: Cost;
  readonly ratio: Cost;
}

const { values: flags } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: {
    rounds: { type: 'string', default: '21' },
    all: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const rounds = Math.max(LEAST_ROUNDS, Number(flags.rounds));

const paths = flags.all ? await Promise.all(nodes.map(pathOf)) : [process.execPath];
const rows: Row[] = [];
for (const path of paths)
  for (const form of ['import', 'require'] as const) rows.push(await measure(path, form));
console.log(flags.json ? JSON.stringify(rows, undefined, 2) : table(rows));

async function pathOf(release: (typeof nodes)[number]): Promise<string> {
  const installed = await install(release);
  if ('missing' in installed)
    throw new Error(`${release.name} does not run here: ${installed.missing}`);
  return installed.executable;
}

async function measure(path: string, form: keyof typeof FORMS): Promise<Row> {
  const loads = [
    () => costOf(path, form, ['express']),
    () => costOf(path, form, ['express', '@paylink/express']),
  ];
  // Fills the file system's cache.
  await runRounds(loads, 1);
  const [express, paylink] = (await runRounds(loads, rounds)) as [Cost[], Cost[]];
  const medians = (of: (paylink: number, express: number) => number): Cost => ({
    wall: median(paylink.map(({ wall }, round) => of(wall, express[round]!.wall))),
    cpu: median(paylink.map(({ cpu }, round) => of(cpu, express[round]!.cpu))),
  });
  return {
    node: spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout.trim(),
    form,
    express: medians((_paylink, alone) => alone),
    over: medians((both, alone) => both - alone),
    ratio: medians((both, alone) => both / alone),
  };
}

/** Both load Express, because code that Paylink shares with Express costs nothing extra. */
async function costOf(
  path: string,
  form: keyof typeof FORMS,
  names: readonly string[],
): Promise<Cost> {
  const code = `
    const started = performance.now();
    const before = process.cpuUsage();
    ${names.map(FORMS[form]).join('\n')}
    const wall = performance.now() - started;
    const { user, system } = process.cpuUsage(before);
    console.log(JSON.stringify({ wall, cpu: (user + system) / 1000 }));`;
  // Measures the built packages, without the measuring process's Node options.
  const { stdout } = await promisify(execFile)(
    path,
    [`--input-type=${form === 'import' ? 'module' : 'commonjs'}`, '-e', code],
    {
      cwd: import.meta.dirname,
      env: { ...process.env, NODE_OPTIONS: '', NODE_COMPILE_CACHE: undefined },
    },
  );
  return JSON.parse(stdout) as Cost;
}

function table(all: readonly Row[]): string {
  const { version } = createRequire(import.meta.url)('express/package.json') as {
    readonly version: string;
  };
  const lines = all.map(({ node, form, express, over, ratio }) => [
    node,
    form,
    express.wall.toFixed(1),
    over.wall.toFixed(1),
    ratio.wall.toFixed(2),
    express.cpu.toFixed(1),
    over.cpu.toFixed(1),
    ratio.cpu.toFixed(2),
  ]);
  const heads = ['Node', 'by', 'Express', 'over', 'ratio', 'CPU', 'over', 'ratio'];
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...lines.map((line) => line[column]!.length)),
  );
  const print = (line: readonly string[]): string =>
    line.map((cell, column) => cell.padStart(widths[column]!)).join('  ');
  return [
    `@paylink/express over Express ${version}, milliseconds, medians of ${rounds}`,
    '',
    ...[heads, ...lines].map(print),
  ].join('\n');
}
