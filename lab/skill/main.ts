/**
 * `pnpm lab skill [--only a,b] [--write]`: judges the receivers that were written from
 * skills/paylink/SKILL.md alone. Exits with 1 if a whole one fails, or if one without a rule of the
 * skill passes. `--write` writes the table to docs/skill.md.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, parse } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startEmulator } from '@paylink/emulator';
import { testSchedules } from '@paylink/testing/schedules';
import { Client } from 'pg';
import { format } from '../../scripts/format.mjs';
import { ON_SOURCES } from '../../scripts/source.mjs';
import { startPostgres } from '../../test/servers/postgres.js';
import { freePort } from '../../test/servers/starting.js';
import { columns } from '../columns.js';
import { markdown } from '../hosts/table.js';
import { readOptions } from '../options.js';
import type { Verdict } from './judge.js';

const { values } = readOptions({
  options: { only: { type: 'string' }, write: { type: 'boolean', default: false } },
});
const HEAD = ['receiver', 'without', 'audit', 'testOrders', 'testSchedules'];
const PAGE = fileURLToPath(new URL('../../docs/skill.md', import.meta.url));
const FOLDER = fileURLToPath(new URL('receivers/', import.meta.url));
const AT_ONCE = 4;
const ORDER = 'order-of-the-audit';
const TABLES = `
  CREATE TABLE orders (reference text PRIMARY KEY, amount integer NOT NULL,
    currency text NOT NULL, created_at timestamptz NOT NULL DEFAULT now(), paid_at timestamptz);
  CREATE TABLE tenant_orders (merchant text, reference text NOT NULL, amount integer NOT NULL,
    currency text NOT NULL, created_at timestamptz NOT NULL DEFAULT now(), paid_at timestamptz,
    UNIQUE NULLS NOT DISTINCT (merchant, reference));
  CREATE TABLE receipts (reference text NOT NULL)`;

const only = values.only?.split(',');
const files = readdirSync(FOLDER).filter((file) => only?.includes(parse(file).name) ?? true);
if (files.length === 0 || files.length < (only?.length ?? 0)) {
  console.error(`Receivers: ${readdirSync(FOLDER).join(', ')}`);
  process.exit(2);
}

const postgres = await startPostgres({ fsync: 'off', max_connections: 200 });
const emulator = await startEmulator();
await emulator.createLink({ amount: 1_500, reference: ORDER, single_use: true });
await emulator.pay(ORDER);
const folder = mkdtempSync(join(tmpdir(), 'paylink-skill-'));
Object.assign(process.env, {
  // The processes of testSchedules load the packages' sources.
  NODE_OPTIONS: ON_SOURCES.join(' '),
  WEBHOOK_SECRET: 'a-secret-of-the-portal',
  PAYLINK_BASE_URL: emulator.baseUrl,
  PAYLINK_API_KEY: emulator.apiKey,
});

const rows: string[][] = [];
let wrong = 0;
const queue = files.values();
// An audit mostly waits for slow bodies.
await Promise.all(Array.from({ length: AT_ONCE }, judgeNext));
rows.sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
await emulator.close();
await postgres.close();
rmSync(folder, { recursive: true });
console.log(`\n${columns(HEAD, rows)}\n\n${files.length} receivers, ${wrong} judged wrongly`);
if (values.write && only === undefined) {
  const [before, rest] = readFileSync(PAGE, 'utf8').split('<!-- table -->\n');
  const [, after] = rest!.split('<!-- end of table -->');
  const table = `<!-- table -->\n\n${markdown(HEAD, rows)}\n\n<!-- end of table -->`;
  writeFileSync(PAGE, await format(PAGE, `${before!}${table}${after!}`));
}
process.exit(wrong === 0 ? 0 : 1);

async function judgeNext(): Promise<void> {
  // Each lane takes its next receiver from the same iterator.
  for (const file of queue) rows.push(await rowOf(file));
}

async function rowOf(file: string): Promise<string[]> {
  const { without, seenBy, audit, orders } = await judge(file);
  const isOnPostgres = readFileSync(join(FOLDER, file), 'utf8').includes('DATABASE_URL');
  const schedules = isOnPostgres ? await schedulesOf(file) : undefined;
  const found = { audit, testOrders: orders, testSchedules: schedules ?? [] };
  const faults = Object.values(found).flat();
  if (seenBy === undefined ? faults.length > 0 : found[seenBy].length === 0) {
    wrong += 1;
    console.error(`${file} ${seenBy === undefined ? 'fails' : `passes ${seenBy}`}`);
  }
  for (const fault of faults) console.error(`${file}: ${fault}`);
  const cells = [audit, orders, schedules].map((each) => {
    if (each === undefined) return 'not tested';
    return each.length === 0 ? 'passes' : `fails (${each.length})`;
  });
  return [file, without ?? '', ...cells];
}

/** Judges a receiver in a process and a database of its own. */
async function judge(file: string): Promise<Verdict> {
  const env = {
    ...process.env,
    RECEIVER: join(FOLDER, file),
    ORDER,
    PORT: String(await freePort()),
    DATABASE_URL: await newDatabase(),
    DATABASE_FILE: join(folder, `${file}.db`),
  };
  const program = fileURLToPath(new URL('judge.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program], {
    env,
    maxBuffer: 2 ** 28,
  });
  return JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Verdict;
}

/** Returns the faults of a receiver on PostgreSQL. */
async function schedulesOf(file: string): Promise<string[]> {
  const faults: string[] = [];
  const runs: ((context: unknown) => Promise<void>)[] = [];
  testSchedules({
    test: (_title, run) => runs.push(run),
    module: join(FOLDER, file),
    databaseUrl: await newDatabase(),
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
