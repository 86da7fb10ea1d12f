import pg from 'pg';
import { migrate } from './designs/one-transaction.js';
import { amountOf } from './service.js';

/** The database's final account. */
export interface Verdict {
  /** Orders whose sender got a 2xx. */
  readonly acknowledged: number;
  readonly credited: number;
  /** Acknowledged but not credited: the merchant never books this money. */
  readonly lost: number;
  /** Credited more than once. */
  readonly doubled: number;
  /** Credited but never acknowledged. */
  readonly alien: number;
  /** Acknowledged before another connection could read the credit. */
  readonly early: number;
}

// `credits` has no unique constraint, so that the database shows a double credit instead of
// refusing it: the lab tests the design in front.
const TABLES = `
  CREATE TABLE orders (reference text PRIMARY KEY, amount bigint NOT NULL, currency text NOT NULL DEFAULT 'XOF', paid_at timestamptz);
  CREATE TABLE credits (reference text NOT NULL, amount bigint NOT NULL);
  CREATE INDEX credits_reference ON credits (reference);
  CREATE TABLE acknowledged (reference text NOT NULL, credited boolean NOT NULL);
  CREATE TABLE marks (key text PRIMARY KEY);`;

const VERDICT = `
  WITH paid AS (SELECT reference, count(*) AS times FROM credits GROUP BY reference),
       told AS (SELECT reference, bool_and(credited) AS credited FROM acknowledged GROUP BY reference)
  SELECT count(told.reference)::int AS acknowledged,
         count(paid.reference)::int AS credited,
         (count(*) FILTER (WHERE paid.reference IS NULL))::int AS lost,
         (count(*) FILTER (WHERE paid.times > 1))::int AS doubled,
         (count(*) FILTER (WHERE told.reference IS NULL))::int AS alien,
         (count(*) FILTER (WHERE NOT told.credited))::int AS early
  FROM paid FULL JOIN told USING (reference)`;

/** The merchant's orders and credits, and the senders' answers, in a separate database. */
export class Book {
  readonly url: string;
  readonly #pool: pg.Pool;
  #orders = 0;

  private constructor(url: string) {
    this.url = url;
    this.#pool = new pg.Pool({ connectionString: url, max: 4 });
    // A test may stop the server.
    this.#pool.on('error', () => undefined);
  }

  static async open(server: { readonly url: string }, name: string): Promise<Book> {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client
      .query(`CREATE DATABASE ${client.escapeIdentifier(name)}`)
      .finally(() => client.end());
    const url = new URL(server.url);
    url.pathname = `/${name}`;
    const book = new Book(url.href);
    await book.query(TABLES);
    await migrate(book.#pool);
    return book;
  }

  async query<Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#pool.query<Row>(sql, values)).rows;
  }

  /** Adds the next `count` unpaid orders: `order-1`, `order-2`, and so on. */
  async addOrders(count: number): Promise<string[]> {
    const first = this.#orders + 1;
    this.#orders += count;
    await this.query(
      `INSERT INTO orders SELECT 'order-' || number, ${amountOf(0)} + number FROM ` +
        'generate_series($1::int, $2::int) AS number',
      [first, this.#orders],
    );
    return Array.from({ length: count }, (_, index) => `order-${first + index}`);
  }

  /** Records that a sender got a 2xx, and whether the credit is visible at this moment. */
  async acknowledge(reference: string): Promise<void> {
    await this.query(
      'INSERT INTO acknowledged SELECT $1, EXISTS (SELECT FROM credits WHERE reference = $1)',
      [reference],
    );
  }

  /** Records many at once, without checking the credit. */
  async acknowledgeAll(references: readonly string[]): Promise<void> {
    await this.query('INSERT INTO acknowledged SELECT unnest($1::text[]), true', [references]);
  }

  async creditsOf(reference: string): Promise<number> {
    const [row] = await this.query<{ count: number }>(
      'SELECT count(*)::int FROM credits WHERE reference = $1',
      [reference],
    );
    return row!.count;
  }

  async verdict(): Promise<Verdict> {
    return (await this.query<Verdict & pg.QueryResultRow>(VERDICT))[0]!;
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}
