import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { identify } from '@paylink/core/idempotency';
import { startEmulator, type Emulator } from '@paylink/emulator';
import { postgresStore } from '@paylink/postgres';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres, type PostgresServer } from '../../../test/engines/postgres.js';
import type { Finding } from '../src/prove/finding.js';
import { newFolder, paylink, type Result } from './paylink.js';
import { csvCell, expectationOf, FAULTS, makeBooks, type Story, type SyntheticBooks } from './prove/synthetic-books.js';

let emulator: Emulator;
let server: PostgresServer;
let pool: pg.Pool;
let service: Record<string, string>;

beforeAll(async () => {
  [emulator, server] = await Promise.all([startEmulator({ port: 0, assumed: { linksKept: 20_000 } }), startPostgres()]);
  pool = new pg.Pool({ connectionString: server.url, max: 4 });
  service = { PAYLINK_BASE_URL: emulator.baseUrl, PAYLINK_API_KEY: emulator.apiKey, DATABASE_URL: server.url };
});

afterAll(async () => {
  await pool.end();
  await Promise.all([emulator.close(), server.close()]);
});

interface Report {
  readonly complete: boolean;
  readonly orders: number;
  readonly asked: number;
  readonly verdicts: Record<string, number>;
  readonly findings: readonly Finding[];
}

function reportOf({ stdout, stderr }: Result): Report {
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as Report;
}

/** Lets the emulator know of a payment, by its own rules. */
async function createPayment({ reference, payment }: Story): Promise<void> {
  if (payment === undefined || payment === 'error') return;
  await emulator.createLink({ reference, amount: payment.amount });
  if (payment.status === 'success') await emulator.pay(reference);
  if (payment.status === 'failed') await emulator.fail(reference);
  if (payment.status === 'cancelled') await emulator.cancel(reference);
}

async function keyOf(reference: string): Promise<string> {
  return (await identify({ kind: 'payment.succeeded', reference })).key;
}

const storiesOf = (books: SyntheticBooks): Story[] => Array.from({ length: books.count }, (_, number) => books.story(number));

/** What was found, in the form of what is expected. */
async function foundIn(findings: readonly Finding[], stories: readonly Story[]): Promise<Map<string, string[]>> {
  const unmarked = new Map<string, string>();
  for (const { reference, orders, credits } of stories) {
    if (orders.length + credits.length === 0) unmarked.set(await keyOf(reference), reference);
  }
  const found = new Map<string, string[]>();
  for (const { finding, reference, mark } of findings) {
    found.set(finding, [...(found.get(finding) ?? []), reference ?? unmarked.get(mark!)!].sort());
  }
  return found;
}

describe('books of every kind of fault, against the service of the emulator', () => {
  it('finds in PostgreSQL every planted fault and nothing else, and asks only what books and marks do not settle', async () => {
    const books = makeBooks(20_000, 102, FAULTS);
    const stories = storiesOf(books);
    for (const story of stories) await createPayment(story);
    await postgresStore(pool).migrate();
    await pool.query(`CREATE TABLE orders (number text, amount text, least text, most text);
      CREATE TABLE ledger (number text, amount text, by_hand text)`);
    const orders = stories.flatMap(({ reference, orders: rows }) => rows.map((row) => [reference, ...row]));
    await insert('orders', ['number', 'amount', 'least', 'most'], orders);
    const credits = stories.flatMap(({ reference, credits: rows }) => rows.map((row) => [reference, ...row]));
    await insert('ledger', ['number', 'amount', 'by_hand'], credits);
    const marks = await Promise.all(stories.filter(({ isMarked }) => isMarked).map(({ reference }) => keyOf(reference)));
    await pool.query(`INSERT INTO paylink_marks (key) SELECT decode(unnest($1::text[]), 'hex')`, [marks]);

    const result = await paylink(
      [
        'prove',
        ...['--orders', 'SELECT number AS reference, amount, least AS amount_min, most AS amount_max FROM orders -- all of them'],
        ...['--credits', 'SELECT number AS reference, amount, by_hand FROM ledger;'],
        ...['--grace', '0.001', '--json'],
      ],
      { env: service },
    );
    const report = reportOf(result);
    const expected = expectationOf(books);
    expect(await foundIn(report.findings, stories)).toEqual(expected.findings);
    expect(report).toMatchObject({ complete: true, orders: expected.orders });
    const { right, not_asked: notAsked, ...others } = report.verdicts;
    expect(others).toEqual({ ...others, ...pickOthers(expected.verdicts) });
    expect(right! + notAsked!).toBe(expected.verdicts.right);
    expect(report.asked).toBeLessThan(report.orders / 2);
    expect(result.code).toBe(1);
  }, 120_000);

  it('finds the same in CSV files of any order, and asks about all', async () => {
    await emulator.reset();
    const books = makeBooks(2_000, 102, FAULTS);
    const stories = storiesOf(books);
    for (const story of stories) await createPayment(story);
    const folder = newFolder();
    writeFiles(
      folder,
      stories.toReversed(),
      await Promise.all(stories.filter(({ isMarked }) => isMarked).map(async ({ reference }) => keyOf(reference))),
    );
    const result = await paylink(
      [
        'prove',
        '--orders',
        'orders.csv',
        '--credits',
        'credits.csv',
        '--marks',
        'marks.csv',
        '--ask',
        'all',
        '--csv',
        'found.csv',
        '--json',
      ],
      { env: service, cwd: folder },
    );
    const report = reportOf(result);
    const expected = expectationOf(books);
    expect(await foundIn(report.findings, stories)).toEqual(expected.findings);
    expect(report.verdicts).toEqual(expected.verdicts);
    expect(result.code).toBe(1);
    const csv = await readFile(join(folder, 'found.csv'), 'utf8');
    expect(csv.split('\r\n').filter((line) => line.startsWith('lost,')).length).toBe(expected.verdicts.lost);
  });
});

function pickOthers({ right: _right, not_asked: _notAsked, ...others }: Record<string, number>): Record<string, number> {
  return others;
}

async function insert(
  table: string,
  columns: readonly string[],
  rows: readonly (readonly (string | undefined)[])[],
): Promise<void> {
  const lists = columns.map((_, at) => rows.map((row) => row[at] ?? null));
  const values = columns.map((_, at) => `$${at + 1}::text[]`).join(', ');
  await pool.query(`INSERT INTO ${table} (${columns.join(', ')}) SELECT * FROM unnest(${values})`, lists);
}

function writeFiles(folder: string, stories: readonly Story[], marks: readonly string[]): void {
  const lines = (rows: readonly (readonly (string | undefined)[])[]): string =>
    rows.map((row) => `${row.map((cell = '') => csvCell(cell)).join(',')}\r\n`).join('');
  const orders = stories.flatMap(({ reference, orders: rows }) => rows.map((row) => [reference, ...row]));
  const credits = stories.flatMap(({ reference, credits: rows }) => rows.map((row) => [reference, ...row]));
  writeFileSync(join(folder, 'orders.csv'), `\ufeffreference,amount,amount_min,amount_max\r\n${lines(orders)}`);
  writeFileSync(join(folder, 'credits.csv'), `reference,amount,by_hand\r\n${lines(credits)}`);
  writeFileSync(join(folder, 'marks.csv'), `key\r\n${lines(marks.map((key) => [`\\x${key}`]))}`);
}
