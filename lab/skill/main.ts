/**
 * `pnpm lab skill [--only a,b] [--write]`: judges the receivers that were written from
 * skills/paylink/SKILL.md alone. Exits with 1 if a right one fails, or if one without a rule of the
 * skill passes. `--write` writes the table to docs/skill.md.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { extname, join, parse } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startEmulator } from '@paylink/emulator';
import { testSchedules } from '@paylink/testing/schedules';
import { Client } from 'pg';
import { ON_SOURCES } from '../../scripts/source.mjs';
import { startPostgres } from '../../test/servers/postgres.js';
import { freePort } from '../../test/servers/starting.js';
import { columns } from '../columns.js';
import { writeBetweenMarks } from '../docs-page.js';
import { markdown } from '../hosts/table.js';
import { readOptions } from '../options.js';
import { BROKEN, type BrokenReceiver } from './broken.js';
import type { Verdict } from './judge.js';

const { values } = readOptions({
  options: { only: { type: 'string' }, write: { type: 'boolean', default: false } },
});
const HEAD = ['receiver', 'without', 'audit', 'testOrders', 'testSchedules'];
const FOLDER = fileURLToPath(new URL('./', import.meta.url));
const RECEIVERS = readdirSync(join(FOLDER, 'receivers'));
/** Below this folder, so that the receivers find their packages. */
const CACHE = join(FOLDER, '.cache');
const AT_ONCE = 4;
const ORDER = 'order-of-the-audit';
const TABLES = `
  CREATE TABLE orders (reference text PRIMARY KEY, amount integer NOT NULL,
    currency text NOT NULL, created_at timestamptz NOT NULL DEFAULT now(), paid_at timestamptz);
  CREATE TABLE tenant_orders (merchant text, reference text NOT NULL, amount integer NOT NULL,
    currency text NOT NULL, created_at timestamptz NOT NULL DEFAULT now(), paid_at timestamptz,
    UNIQUE NULLS NOT DISTINCT (merchant, reference));
  CREATE TABLE receipts (reference text NOT NULL)`;

interface Receiver {
  readonly path: string;
  readonly broken?: BrokenReceiver;
}

const receivers = new Map<string, Receiver>();
for (const file of RECEIVERS) receivers.set(file, { path: join(FOLDER, 'receivers', file) });
rmSync(CACHE, { recursive: true, force: true });
mkdirSync(CACHE);
for (const [name, broken] of Object.entries(BROKEN))
  receivers.set(`${name}${extname(broken.from)}`, { path: plant(name, broken), broken });
const only = values.only?.split(',');
const chosen = [...receivers].filter(([file]) => only?.includes(parse(file).name) ?? true);
if (chosen.length === 0 || chosen.length < (only?.length ?? 0)) {
  console.error(`Receivers: ${[...receivers.keys()].join(', ')}`);
  process.exit(2);
}

const postgres = await startPostgres({ fsync: 'off', max_connections: 200 });
const emulator = await startEmulator();
await emulator.createLink({ amount: 1_500, reference: ORDER, single_use: true });
await emulator.pay(ORDER);
Object.assign(process.env, {
  // The processes of testSchedules load the packages' sources.
  NODE_OPTIONS: ON_SOURCES.join(' '),
  WEBHOOK_SECRET: 'a-secret-of-the-portal',
  PAYLINK_BASE_URL: emulator.baseUrl,
  PAYLINK_API_KEY: emulator.apiKey,
});

const rows: string[][] = [];
let wrong = 0;
const queue = chosen.values();
// An audit mostly waits for slow bodies.
await Promise.all(Array.from({ length: AT_ONCE }, judgeNext));
rows.sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
await emulator.close();
await postgres.close();
rmSync(CACHE, { recursive: true });
console.log(`\n${columns(HEAD, rows)}\n\n${rows.length} receivers, ${wrong} judged wrongly`);
if (values.write && only === undefined)
  await writeBetweenMarks('skill.md', 'table', () => markdown(HEAD, rows));
process.exit(wrong === 0 ? 0 : 1);

/** Copies the receivers, plants the mistake, and returns the path of the broken one. */
function plant(
  name: string,
  { from, file = `receivers/${from}`, changes }: BrokenReceiver,
): string {
  const copy = join(CACHE, name);
  for (const part of ['payments', 'receivers'])
    cpSync(join(FOLDER, part), join(copy, part), { recursive: true });
  let source = readFileSync(join(copy, file), 'utf8');
  for (const [search, replace] of changes) {
    if (source.split(search).length !== 2) throw new Error(`not once in ${file}: ${search}`);
    source = source.replace(search, () => replace);
  }
  writeFileSync(join(copy, file), source);
  return join(copy, 'receivers', from);
}

async function judgeNext(): Promise<void> {
  // Each lane takes its next receiver from the same iterator.
  for (const receiver of queue) rows.push(await rowOf(...receiver));
}

async function rowOf(file: string, { path, broken }: Receiver): Promise<string[]> {
  const { audit, orders } = await judge(file, path);
  const schedules = path.includes('-pg') ? await schedulesOf(path) : undefined;
  const found = { audit, testOrders: orders, testSchedules: schedules ?? [] };
  const faults = Object.values(found).flat();
  if (broken === undefined ? faults.length > 0 : found[broken.seenBy].length === 0) {
    wrong += 1;
    console.error(`${file} ${broken === undefined ? 'fails' : `passes ${broken.seenBy}`}`);
  }
  for (const fault of faults) console.error(`${file}: ${fault}`);
  const cells = [audit, orders, schedules].map((each) => {
    if (each === undefined) return 'not tested';
    return each.length === 0 ? 'passes' : `fails (${each.length})`;
  });
  return [file, broken?.without ?? '', ...cells];
}

/** Judges a receiver in a process and a database of its own. */
async function judge(file: string, path: string): Promise<Verdict> {
  const env = {
    ...process.env,
    RECEIVER: path,
    ORDER,
    PORT: String(await freePort()),
    DATABASE_URL: await newDatabase(),
    DATABASE_FILE: join(CACHE, `${file}.db`),
  };
  const program = fileURLToPath(new URL('judge.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program], {
    env,
    maxBuffer: 2 ** 28,
  });
  return JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Verdict;
}

/** Returns the faults of a receiver on PostgreSQL. */
async function schedulesOf(path: string): Promise<string[]> {
  const faults: string[] = [];
  const runs: ((context: unknown) => Promise<void>)[] = [];
  testSchedules({
    test: (_title, run) => runs.push(run),
    module: path,
    databaseUrl: await newDatabase(),
    // What a busy machine leaves out would count as a fault.
    timeLimit: 300_000,
  });
  for (const run of runs) {
    await run({ skip: (note: string) => faults.push(note) }).catch((error: unknown) => {
      // A module that cannot be loaded is no verdict.
      if ((error as { code?: string }).code === 'misconfigured') throw error;
      faults.push((error as Error).message);
    });
  }
  return faults;
}

async function newDatabase(): Promise<string> {
  const name = `skill_${Math.random().toString(36).slice(2)}`;
  const query = async (url: string, sql: string): Promise<void> => {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  await query(postgres.url, `CREATE DATABASE ${name}`);
  const url = new URL(name, postgres.url).href;
  await query(url, TABLES);
  return url;
}
