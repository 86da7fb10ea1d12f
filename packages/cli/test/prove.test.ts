import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { identify } from '@paylink/payments';
import { startEmulator, type Emulator } from '@paylink/emulator';
import { postgresStore } from '@paylink/postgres';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startPostgres, type PostgresServer } from '../../../test/servers/postgres.js';
import type { Finding } from '../src/prove/finding.js';
import { newFolder, paylink, type Result } from './paylink.js';
import {
  csvCell,
  expectationOf,
  FAULTS,
  makeBooks,
  type Story,
  type SyntheticBooks,
} from './prove/synthetic-books.js';

let emulator: Emulator;
let server: PostgresServer;
let pool: pg.Pool;
let service: Record<string, string>;

beforeAll(async () => {
  [emulator, server] = await Promise.all([
    startEmulator({ port: 0, assumed: { linksKept: 20_000 } }),
    startPostgres(),
  ]);
  pool = new pg.Pool({ connectionString: server.url, max: 4 });
  service = {
    PAYLINK_BASE_URL: emulator.baseUrl,
    PAYLINK_API_KEY: emulator.apiKey,
    DATABASE_URL: server.url,
  };
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

/** Adds a payment to the emulator, by its own rules. */
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

const storiesOf = (books: SyntheticBooks): Story[] =>
  Array.from({ length: books.count }, (_, number) => books.story(number));

/** Returns the findings in the form of the expectation. */
async function foundIn(
  findings: readonly Finding[],
  stories: readonly Story[],
): Promise<Map<string, string[]>> {
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

describe('paylink prove, against the emulator', () => {
  it('finds exactly the planted faults in PostgreSQL, and asks only about unsettled orders', async () => {
    const books = makeBooks(20_000, 102, FAULTS);
    const stories = storiesOf(books);
    for (const story of stories) await createPayment(story);
    await postgresStore(pool).migrate();
    await pool.query(`CREATE TABLE orders (number text, amount text, least text, most text);
      CREATE TABLE ledger (number text, amount text, by_hand text)`);
    const orders = stories.flatMap(({ reference, orders: rows }) =>
      rows.map((row) => [reference, ...row]),
    );
    await insert('orders', ['number', 'amount', 'least', 'most'], orders);
    const credits = stories.flatMap(({ reference, credits: rows }) =>
      rows.map((row) => [reference, ...row]),
    );
    await insert('ledger', ['number', 'amount', 'by_hand'], credits);
    const marks = await Promise.all(
      stories.filter(({ isMarked }) => isMarked).map(({ reference }) => keyOf(reference)),
    );
    await pool.query(`INSERT INTO paylink_marks (key) SELECT decode(unnest($1::text[]), 'hex')`, [
      marks,
    ]);

    const result = await paylink(
      [
        'prove',
        ...[
          '--orders',
          'SELECT number AS reference, amount, least AS amount_min, most AS amount_max FROM orders -- all of them',
        ],
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

  it('finds exactly the planted faults in unsorted CSV files, and asks about all orders with --ask all', async () => {
    await emulator.reset();
    const books = makeBooks(2_000, 102, FAULTS);
    const stories = storiesOf(books);
    for (const story of stories) await createPayment(story);
    const folder = newFolder();
    writeFiles(
      folder,
      stories.toReversed(),
      await Promise.all(
        stories.filter(({ isMarked }) => isMarked).map(async ({ reference }) => keyOf(reference)),
      ),
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
    expect(csv.split('\r\n').filter((line) => line.startsWith('lost,')).length).toBe(
      expected.verdicts.lost,
    );
  });
});

describe('paylink prove, on PostgreSQL', () => {
  const query = [
    '--orders',
    'SELECT reference, amount FROM shop',
    '--credits',
    'SELECT reference, amount FROM paid',
  ];

  beforeEach(async () => {
    await emulator.reset();
    await pool.query(`DROP TABLE IF EXISTS shop, paid, paylink_marks;
      CREATE TABLE shop (reference text, amount bigint); CREATE TABLE paid (reference text, amount int)`);
  });

  it.each([undefined, 'Käse "GmbH" \\ 1'])(
    'recognises the marks that the store wrote for tenant %j',
    async (tenant) => {
      const store = postgresStore(pool, {
        logger: { warn: () => undefined, error: () => undefined },
      });
      await store.migrate();
      const references = [
        'order-1',
        'é"\\/\u2028\n\t\u0001\u007f😀',
        "o'clock",
        ' blank ',
        '{"a":1}',
      ];
      for (const reference of references) {
        const { key, turn } = await identify({ tenant, kind: 'payment.succeeded', reference });
        const done = await store.run(
          key,
          async (tx) => {
            await tx.query('INSERT INTO paid (reference, amount) VALUES ($1, 100)', [reference]);
          },
          { signal: new AbortController().signal, turn },
        );
        expect(done).toBe('done');
        await pool.query('INSERT INTO shop (reference, amount) VALUES ($1, 100)', [reference]);
      }
      const flags = tenant === undefined ? [] : ['--tenant', tenant];
      const result = await paylink(['prove', ...query, ...flags, '--json'], { env: service });
      // Credited and marked, so the run asks nothing.
      expect(reportOf(result)).toMatchObject({
        asked: 0,
        findings: [],
        verdicts: { not_asked: references.length },
      });
      const other = await paylink(
        ['prove', ...query, '--tenant', 'another', '--ask', 'none', '--json'],
        { env: service },
      );
      expect(reportOf(other).findings).toHaveLength(references.length);
    },
  );

  it('does not report an order as lost if it is credited during the run', async () => {
    await pool.query(`INSERT INTO shop (reference, amount) VALUES ('late', 100), ('lost', 100)`);
    for (const reference of ['late', 'lost']) {
      await emulator.createLink({ reference, amount: 100 });
      await emulator.pay(reference);
    }
    const end = emulator.onRequest(({ path }) => {
      if (path.endsWith('/late'))
        void pool.query(`INSERT INTO paid (reference, amount) VALUES ('late', 100)`);
    });
    const result = await paylink(['prove', ...query, '--grace', '2', '--json'], { env: service });
    end();
    expect(reportOf(result)).toMatchObject({
      asked: 2,
      verdicts: { right: 1, lost: 1 },
      findings: [{ finding: 'lost', reference: 'lost' }],
    });
  });

  it('does not resume with the books of another database', async () => {
    await pool.query(`INSERT INTO shop VALUES ('a', 100); INSERT INTO paid VALUES ('a', 100)`);
    const folder = newFolder();
    const args = ['prove', ...query, '--ask', 'all', '--state', 'state'];
    const refused = { ...service, PAYLINK_API_KEY: 'sk_live_another.a1b2c3d4e5f6' };
    expect((await paylink(args, { env: refused, cwd: folder })).code).toBe(1);
    await pool.query('DROP DATABASE IF EXISTS elsewhere');
    await pool.query('CREATE DATABASE elsewhere');
    const url = new URL(server.url);
    url.pathname = '/elsewhere';
    const elsewhere = await paylink(args, {
      env: { ...service, DATABASE_URL: url.href },
      cwd: folder,
    });
    expect(elsewhere).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('with other inputs') as string,
    });
    // Another password does not make another database.
    url.pathname = new URL(server.url).pathname;
    url.password = 'changed';
    const again = await paylink(args, { env: { ...service, DATABASE_URL: url.href }, cwd: folder });
    expect(again.stderr).toContain('continuing: the books were read at');
  });

  it('joins credits of a file with orders of a query', async () => {
    await pool.query(
      `INSERT INTO shop (reference, amount) VALUES ('a', 100), ('b', 100), (NULL, 5)`,
    );
    const folder = newFolder();
    writeFileSync(join(folder, 'credits.csv'), 'reference,amount\na,100\na,100\n');
    const result = await paylink(
      [
        'prove',
        '--orders',
        'SELECT * FROM shop',
        '--credits',
        'credits.csv',
        '--ask',
        'none',
        '--json',
      ],
      { env: service, cwd: folder },
    );
    expect(reportOf(result)).toMatchObject({ orders: 2, verdicts: { doubled: 1, not_asked: 1 } });
    expect(result.stderr).toContain('has no table paylink_marks');
    expect(reportOf(result).findings.map(({ reason }) => reason)).toContain(
      'a row of the orders has no reference',
    );
  });

  it.each([
    ['is not SQL', 'SELECT FROM WHERE', /--orders: PostgreSQL refuses the query: syntax error/],
    [
      'writes',
      'WITH gone AS (DELETE FROM shop RETURNING *) SELECT * FROM gone',
      /PostgreSQL refuses the query/,
    ],
    [
      'calls a function that writes',
      'SELECT reference, amount, setval($$counter$$, 9) FROM shop',
      /read-only transaction/,
    ],
    [
      'has two columns of one name',
      'SELECT reference, amount, 2 * amount AS amount FROM shop',
      /--orders: the query has two columns amount/,
    ],
    ['has no column reference', 'SELECT amount FROM shop', /the query has no column reference/],
  ])('refuses a query that %s, and changes nothing', async (_, orders, message) => {
    await pool.query(`INSERT INTO shop (reference, amount) VALUES ('a', 100);
      CREATE SEQUENCE IF NOT EXISTS counter; SELECT setval('counter', 3)`);
    const result = await paylink(
      ['prove', '--orders', orders, ...query.slice(2), '--ask', 'none'],
      { env: service },
    );
    expect(result.code).toBeGreaterThan(0);
    expect(result.stderr).toMatch(message);
    const { rows } = await pool.query(
      'SELECT (SELECT count(*)::int FROM shop) AS orders, last_value::int AS counter FROM counter',
    );
    expect(rows).toEqual([{ orders: 1, counter: 3 }]);
  });

  it('reports an unreachable server without the password', async () => {
    const url = new URL(server.url);
    url.password = 'a-password-of-the-books';
    url.port = '1';
    const result = await paylink(['prove', ...query, '--ask', 'none', '--database-url', url.href]);
    expect(result).toMatchObject({ code: 1, stdout: '' });
    expect(result.stderr).toContain('PostgreSQL cannot be reached');
    expect(result.stderr).not.toContain('a-password-of-the-books');
  });
});

function pickOthers({
  right: _right,
  not_asked: _notAsked,
  ...others
}: Record<string, number>): Record<string, number> {
  return others;
}

async function insert(
  table: string,
  columns: readonly string[],
  rows: readonly (readonly (string | undefined)[])[],
): Promise<void> {
  const lists = columns.map((_, at) => rows.map((row) => row[at] ?? null));
  const values = columns.map((_, at) => `$${at + 1}::text[]`).join(', ');
  await pool.query(
    `INSERT INTO ${table} (${columns.join(', ')}) SELECT * FROM unnest(${values})`,
    lists,
  );
}

function writeFiles(folder: string, stories: readonly Story[], marks: readonly string[]): void {
  const lines = (rows: readonly (readonly (string | undefined)[])[]): string =>
    rows.map((row) => `${row.map((cell = '') => csvCell(cell)).join(',')}\r\n`).join('');
  const orders = stories.flatMap(({ reference, orders: rows }) =>
    rows.map((row) => [reference, ...row]),
  );
  const credits = stories.flatMap(({ reference, credits: rows }) =>
    rows.map((row) => [reference, ...row]),
  );
  writeFileSync(
    join(folder, 'orders.csv'),
    `\ufeffreference,amount,amount_min,amount_max\r\n${lines(orders)}`,
  );
  writeFileSync(join(folder, 'credits.csv'), `reference,amount,by_hand\r\n${lines(credits)}`);
  writeFileSync(join(folder, 'marks.csv'), `key\r\n${lines(marks.map((key) => [`\\x${key}`]))}`);
}
