/**
 * `pnpm lab bench-runtimes [--rounds 7] [--only bun,deno,workerd] [--json]`: measures Hono on
 * runtimes other than Node: bare, by hand, by hand with limits, and with Paylink, each in its own
 * process, loaded in turn.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { install } from '../../../test/runtimes/install.js';
import { bun, deno, workerd, type Release } from '../../../test/runtimes/versions.js';
import { jsonBody } from '../delivery.js';
import { prepareLoad } from '../load.js';
import { runRounds } from '../rounds.js';
import { onServerCore } from '../server-process.js';
import { median, medianRatio } from '../statistics.js';

const CONTESTANTS = ['bare', 'byHand', 'least', 'paylink'] as const;
const SIZES = { '200 B': 200, '10 kB': 10_000 };
const WARM_UP_SECONDS = 2;
const SLICE_SECONDS = 1;
/** The unit of Linux's CPU times. */
const TICKS_A_SECOND = 100;

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: {
    rounds: { type: 'string', default: '7' },
    only: { type: 'string', default: 'bun,deno,workerd' },
    json: { type: 'boolean', default: false },
  },
});

interface Runtime {
  readonly release: Release;
  readonly entry: 'serve.ts' | 'worker.ts';
  /** The runtime's own conditions for a package's `exports`. */
  readonly conditions: readonly string[];
  readonly args: (bundle: string) => readonly string[];
}

const RUNTIMES: Readonly<Record<string, Runtime>> = {
  bun: {
    release: bun,
    entry: 'serve.ts',
    conditions: ['bun', 'node', 'import'],
    args: (bundle) => [bundle],
  },
  deno: {
    release: deno,
    entry: 'serve.ts',
    conditions: ['deno', 'node', 'import'],
    args: (bundle) => ['run', '--no-remote', '--allow-net', '--allow-env', '--allow-read', bundle],
  },
  workerd: {
    release: workerd,
    entry: 'worker.ts',
    conditions: ['workerd', 'worker', 'browser'],
    args: (bundle) => ['serve', capnpOf(bundle), '--control-fd=1'],
  },
};

const folder = mkdtempSync(join(tmpdir(), 'paylink-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

async function bundle(name: string, contestant: string): Promise<string> {
  const { entry, conditions } = RUNTIMES[name]!;
  const outfile = join(folder, `${name}-${contestant}.mjs`);
  await build({
    entryPoints: [fileURLToPath(new URL(entry, import.meta.url))],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: [...conditions],
    external: ['node:*'],
    define: { CONTESTANT: JSON.stringify(contestant) },
    // workerd has Buffer only as an import, other runtimes as a global.
    banner: { js: "import { Buffer } from 'node:buffer';" },
  });
  return outfile;
}

function capnpOf(bundle: string): string {
  const config = bundle.replace(/mjs$/, 'capnp');
  writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "shop", worker = (
    modules = [(name = "worker", esModule = embed "${bundle.split('/').at(-1)!}")],
    compatibilityDate = "2026-07-01",
    compatibilityFlags = ["nodejs_compat"],
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "shop")],
);
`,
  );
  return config;
}

async function start(
  executable: string,
  args: readonly string[],
): Promise<{ child: ChildProcess; port: number }> {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, NODE_ENV: 'production' as const };
  const [file, ...all] = onServerCore([executable, ...args]);
  const child = spawn(file!, all, { stdio: ['ignore', 'pipe', 'inherit'], env });
  process.once('exit', () => child.kill('SIGKILL'));
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { child, port: (JSON.parse(line) as { port: number }).port };
}

/** Returns the microseconds of CPU time of all threads of a process. */
function cpuTime({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return ((Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND) * 1e6;
}

type Four<T> = [T, T, T, T];

async function measure(name: string, executable: string): Promise<object[]> {
  const runtime = RUNTIMES[name]!;
  const servers = [];
  for (const contestant of CONTESTANTS)
    servers.push(await start(executable, runtime.args(await bundle(name, contestant))));
  const rows = [];
  for (const [size, bytes] of Object.entries(SIZES)) {
    const load = prepareLoad(jsonBody(bytes));
    for (const { port } of servers) await load.run(port, WARM_UP_SECONDS);
    const slices = servers.map(({ child, port }) => async (): Promise<number> => {
      const before = cpuTime(child);
      const requests = await load.run(port, SLICE_SECONDS);
      return (cpuTime(child) - before) / requests;
    });
    const samples = await runRounds(slices, Number(values.rounds));
    load.close();
    const [ofBare, ofHand, ofLeast, ours] = samples as Four<number[]>;
    const toHand = ours.map((own, round) => ofHand[round]! / own);
    rows.push({
      runtime: runtime.release.name,
      size,
      'CPU µs bare': median(ofBare),
      'by hand': median(ofHand),
      'within limits': median(ofLeast),
      paylink: median(ours),
      'req a CPU s to bare': medianRatio(ofBare, ours),
      'to by hand': median(toHand),
      lowest: Math.min(...toHand),
      highest: Math.max(...toHand),
      'to within limits': medianRatio(ofLeast, ours),
      'within limits to by hand': medianRatio(ofHand, ofLeast),
    });
  }
  for (const { child } of servers) child.kill('SIGKILL');
  return rows;
}

const rows: object[] = [];
for (const name of values.only.split(',')) {
  const installed = await install(RUNTIMES[name]!.release);
  if ('missing' in installed)
    throw new Error(`${name} could not be installed: ${installed.missing}`);
  rows.push(...(await measure(name, installed.executable)));
}
const rounded = rows.map((row) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'number' ? Number(value.toFixed(2)) : value,
    ]),
  ),
);
if (values.json) console.log(JSON.stringify(rounded, undefined, 2));
else console.table(rounded);
process.exit(0);
