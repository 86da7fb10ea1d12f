/** Reads books from PostgreSQL in one read-only snapshot. */
import type { Client, QueryArrayResult } from 'pg';
import { connectDatabase, messageOf, type DatabaseAddress } from '../database.js';
import { failure, usageFailure } from '../failure.js';
import { emptyBooks, enter, type Books } from './books.js';
import {
  CREDIT_COLUMNS,
  ORDER_COLUMNS,
  readCredit,
  readMarkKey,
  readOrder,
  refuseRepeated,
  type Cells,
  type CreditRow,
  type OrderRow,
  type Row,
  type UselessRow,
} from './rows.js';
import type { BookSource } from './settle.js';

/** Rows per fetch: enough to hide the round trip, and small in memory. */
const FETCHED = 5_000;

type Column = (typeof ORDER_COLUMNS)[number] | (typeof CREDIT_COLUMNS)[number];

interface Joined {
  readonly orders: string;
  readonly credits: string;
  readonly marks: string | undefined;
  readonly tenant: string | undefined;
}

export class PostgresBooks {
  readonly #database: DatabaseAddress;
  readonly #clients = new Set<Client>();

  constructor(database: DatabaseAddress) {
    this.#database = database;
  }

  /** Names the database, without the password. */
  get address(): string {
    if (!URL.canParse(this.#database.url)) return this.#database.url;
    const url = new URL(this.#database.url);
    url.password = '';
    url.searchParams.delete('password');
    return url.href;
  }

  /** Returns true if `search_path` finds the table. */
  async hasTable(table: string): Promise<boolean> {
    return this.#session(async (client) => {
      const { rows } = await client.query<{ found: boolean }>(
        'SELECT to_regclass($1) IS NOT NULL AS found',
        [quoted(table)],
      );
      return rows[0]!.found;
    });
  }

  /** Joins all inputs on the server. */
  joined(inputs: Joined): BookSource {
    const rows = { orders: 0, credits: 0, marks: inputs.marks === undefined ? null : 0 };
    return { rows, books: (onFault) => this.#joined(inputs, rows, onFault) };
  }

  async *#joined(
    { orders, credits, marks, tenant }: Joined,
    counts: { orders: number; credits: number; marks: number | null },
    onFault: (fault: string) => Promise<void>,
  ): AsyncGenerator<Books, void, undefined> {
    const client = await this.#connect();
    try {
      await begin(client);
      const digest = digestSql(tenant);
      const parts = [
        await this.#part(client, 'o', orders, '--orders', digest),
        await this.#part(client, 'c', credits, '--credits', digest),
        ...(marks === undefined
          ? []
          : [`SELECT 'm', key, ${nulls(PLACES.length)} FROM ${quoted(marks)}`]),
      ];
      const names = ['kind', 'digest', ...PLACES].join(', ');
      const all = `WITH books (${names}) AS (\n${parts.join('\nUNION ALL\n')}\n)
SELECT kind, encode(digest, 'hex'), ${PLACES.join(', ')} FROM books ORDER BY digest`;
      let books: Books | undefined;
      for await (const [kind, hex, ...cells] of fetchAll(client, all)) {
        if (kind === 'o') counts.orders++;
        else if (kind === 'c') counts.credits++;
        else counts.marks!++;
        const row =
          kind === 'm'
            ? readMarkKey(hex, 'a mark')
            : kind === 'o'
              ? orderOf(cells)
              : creditOf(cells);
        if (row.kind === 'useless') {
          await onFault(row.fault);
          continue;
        }
        if (books?.digest !== hex) {
          if (books !== undefined) yield books;
          books = emptyBooks(hex!);
        }
        enter(books!, row);
      }
      if (books !== undefined) yield books;
    } catch (error) {
      throw explained(error);
    } finally {
      await this.#end(client);
    }
  }

  async *orders(query: string): AsyncGenerator<OrderRow | UselessRow, void, undefined> {
    for await (const cells of this.#cells(query, '--orders')) yield orderOf(cells);
  }

  async *credits(query: string): AsyncGenerator<CreditRow | UselessRow, void, undefined> {
    for await (const cells of this.#cells(query, '--credits')) yield creditOf(cells);
  }

  async *marks(table: string): AsyncGenerator<Row, void, undefined> {
    const client = await this.#connect();
    try {
      await begin(client);
      for await (const [hex] of fetchAll(client, `SELECT encode(key, 'hex') FROM ${quoted(table)}`))
        yield readMarkKey(hex, 'a mark');
    } catch (error) {
      throw explained(error);
    } finally {
      await this.#end(client);
    }
  }

  /** Reads the present credits of these references. */
  async creditsOf(query: string, references: readonly string[]): Promise<CreditRow[]> {
    return this.#session(async (client) => {
      const sql =
        `${selectSql(await columnsOf(client, query, '--credits'), query)} WHERE ` +
        'q.reference::text = ANY ($1)';
      const { rows } = await client.query<(string | null)[]>({
        text: sql,
        values: [references],
        rowMode: 'array',
      });
      return rows.map(creditOf).filter((row) => row.kind === 'credit');
    });
  }

  /** Ends every session, even a busy one. */
  async close(): Promise<void> {
    await Promise.all([...this.#clients].map((client) => this.#end(client)));
  }

  async *#cells(query: string, option: string): AsyncGenerator<(string | null)[], void, undefined> {
    const client = await this.#connect();
    try {
      await begin(client);
      yield* fetchAll(client, selectSql(await columnsOf(client, query, option), query));
    } catch (error) {
      throw explained(error);
    } finally {
      await this.#end(client);
    }
  }

  async #part(
    client: Client,
    kind: string,
    query: string,
    option: string,
    digest: string,
  ): Promise<string> {
    return (
      `SELECT '${kind}', ${digest}, q.* FROM ` +
      `(${selectSql(await columnsOf(client, query, option), query)}) q`
    );
  }

  async #session<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    try {
      await client.query('BEGIN TRANSACTION READ ONLY');
      return await work(client);
    } catch (error) {
      throw explained(error);
    } finally {
      await this.#end(client);
    }
  }

  async #connect(): Promise<Client> {
    const client = await connectDatabase(this.#database, 'paylink prove');
    this.#clients.add(client);
    return client;
  }

  async #end(client: Client): Promise<void> {
    this.#clients.delete(client);
    await client.end().catch(() => undefined);
  }
}

/** Begins a read-only snapshot. */
async function begin(client: Client): Promise<void> {
  await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
  // Plans for the whole result, not for fast first rows.
  await client.query('SET LOCAL cursor_tuple_fraction = 1');
}

async function* fetchAll(
  client: Client,
  sql: string,
): AsyncGenerator<(string | null)[], void, undefined> {
  await client.query(`DECLARE paylink_prove NO SCROLL CURSOR FOR ${sql}`);
  const fetch = (): Promise<QueryArrayResult<(string | null)[]>> =>
    client.query({ text: `FETCH ${FETCHED} FROM paylink_prove`, rowMode: 'array' });
  for (;;) {
    const { rows } = await fetch();
    yield* rows;
    if (rows.length < FETCHED) return;
  }
}

/** Returns the columns that the query has. @throws Failure if a column is missing */
async function columnsOf(
  client: Client,
  query: string,
  option: string,
): Promise<ReadonlySet<string>> {
  const { fields } = await client
    .query(`SELECT * FROM (${bare(query)}\n) q LIMIT 0`)
    .catch((error: unknown) => {
      throw usageFailure(`${option}: PostgreSQL refuses the query: ${messageOf(error)}`);
    });
  const all = fields.map(({ name }) => name);
  refuseRepeated(option, option === '--orders' ? ORDER_COLUMNS : CREDIT_COLUMNS, all, 'the query');
  const names = new Set(all);
  const required =
    option === '--orders' ? [['reference'], ['amount', 'amount_min']] : [['reference']];
  for (const columns of required) {
    if (columns.some((column) => names.has(column))) continue;
    throw usageFailure(
      `${option}: the query has no column ${columns.join(' or ')}`,
      `name it: SELECT order_number AS reference, … (the columns are ${[...names].join(', ')})`,
    );
  }
  return names;
}

/** One column order for both kinds of rows. All are text, because the row reader parses numbers. */
const PLACES = [
  'reference',
  'amount',
  'amount_min',
  'amount_max',
  'currency',
  'by_hand',
] as const satisfies readonly Column[];

function selectSql(names: ReadonlySet<string>, query: string): string {
  const columns = PLACES.map((column) =>
    names.has(column) ? `q.${column}::text AS ${column}` : `NULL::text AS ${column}`,
  );
  return `SELECT ${columns.join(', ')} FROM (${bare(query)}\n) q`;
}

function bare(query: string): string {
  return query.trim().replace(/(;\s*)+$/, '');
}

function nulls(count: number): string {
  return Array.from({ length: count }, () => 'NULL').join(', ');
}

function orderOf([reference, amount, least, most, currency]: readonly (string | null)[]):
  OrderRow | UselessRow {
  const cells: Cells<(typeof ORDER_COLUMNS)[number]> = {
    reference,
    amount,
    amount_min: least,
    amount_max: most,
    currency,
  };
  return readOrder(cells, 'a row of the orders');
}

function creditOf([reference, amount, , , , byHand]: readonly (string | null)[]):
  CreditRow | UselessRow {
  return readCredit({ reference, amount, by_hand: byHand }, 'a row of the credits');
}

/** Computes the key of `identify` in @paylink/payments for the column. A test compares the two. */
function digestSql(tenant: string | undefined): string {
  const identity =
    tenant === undefined
      ? `'payment.succeeded:' || q.reference`
      : `${literal(`[${JSON.stringify(tenant)},"payment.succeeded",`)} || ` +
        `to_json(q.reference)::text || ']'`;
  return `sha256(convert_to(${identity}, 'UTF8'))`;
}

function literal(value: string): string {
  return `U&'${value.replace(/['\\]|[^\x20-\x7e]/gu, (character) => {
    if (character === "'") return "''";
    if (character === '\\') return '\\\\';
    return `\\+${character.codePointAt(0)!.toString(16).padStart(6, '0')}`;
  })}'`;
}

/** Quotes `schema.table`. */
function quoted(table: string): string {
  return table
    .split('.')
    .map((name) => `"${name.replaceAll('"', '""')}"`)
    .join('.');
}

function explained(error: unknown): unknown {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)
    ? failure(`PostgreSQL: ${messageOf(error)} (${code})`)
    : error;
}
