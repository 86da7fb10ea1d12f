/** Opens the sources of the books and joins their rows. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { identify } from '@paylink/payments';
import { usageFailure } from '../failure.js';
import type { Books } from './books.js';
import { readCsv } from './csv.js';
import { Partitions } from './partitions.js';
import type { PostgresBooks } from './postgres.js';
import {
  CREDIT_COLUMNS,
  ORDER_COLUMNS,
  readCredit,
  readMarkKey,
  readOrder,
  uselessRow,
  type Row,
} from './rows.js';
import type { BookSource } from './settle.js';

/** The event that credits an order (docs/service.md 6.1). */
export const PAYMENT_SUCCEEDED = 'payment.succeeded';

// The run deletes this folder. With `--state .`, it lies beside the user's files.
const ROWS = '.paylink-prove-rows';

/** A query, or the path of a CSV file. `-` is stdin. */
export type Input = { readonly query: string } | { readonly path: string };

export interface Inputs {
  readonly orders: Input;
  readonly credits: Input;
  /** A table of `postgresStore`, or the path of a CSV file. */
  readonly marks: { readonly table: string } | { readonly path: string } | undefined;
  readonly tenant: string | undefined;
  /** Set if an input is a query or a table. */
  readonly database: PostgresBooks | undefined;
  /** A folder for files as large as the books. */
  readonly folder: string;
}

/** @throws Failure if two inputs read stdin */
export function openInputs(inputs: Inputs): BookSource {
  const { orders, credits, marks, database } = inputs;
  const isAllThere =
    'query' in orders && 'query' in credits && (marks === undefined || 'table' in marks);
  if (isAllThere)
    return database!.joined({
      orders: orders.query,
      credits: credits.query,
      marks: marks?.table,
      tenant: inputs.tenant,
    });
  return new Gathered(inputs);
}

/** Joins rows from several places on this machine's disk. */
class Gathered implements BookSource {
  readonly rows: { orders: number; credits: number; marks: number | null };
  readonly #inputs: Inputs;

  constructor(inputs: Inputs) {
    this.#inputs = inputs;
    this.rows = { orders: 0, credits: 0, marks: inputs.marks === undefined ? null : 0 };
  }

  async *books(onFault: (fault: string) => Promise<void>): AsyncGenerator<Books, void, undefined> {
    const { orders, credits, marks, tenant, folder } = this.#inputs;
    const path = join(folder, ROWS);
    await rm(path, { recursive: true, force: true });
    await mkdir(path, { mode: 0o700 });
    const partitions = new Partitions(path);
    const add = async (row: Row): Promise<void> => {
      if (row.kind === 'useless') return onFault(row.fault);
      const isMark = row.kind === 'mark';
      const digest = isMark
        ? row.digest
        : (await identify({ tenant, kind: PAYMENT_SUCCEEDED, reference: row.reference })).key;
      await partitions.add(digest, row);
    };
    try {
      for await (const row of this.#orders(orders)) {
        this.rows.orders++;
        await add(row);
      }
      for await (const row of this.#credits(credits)) {
        this.rows.credits++;
        await add(row);
      }
      for await (const row of marks === undefined ? [] : this.#marks(marks)) {
        this.rows.marks!++;
        await add(row);
      }
      yield* partitions.books();
    } finally {
      await rm(path, { recursive: true, force: true });
    }
  }

  async *#orders(input: Input): AsyncGenerator<Row, void, undefined> {
    if ('query' in input) return yield* this.#inputs.database!.orders(input.query);
    const required = [['reference'], ['amount', 'amount_min']] as const;
    for await (const { cells, where } of readCsv(input.path, '--orders', ORDER_COLUMNS, required))
      yield readOrder(cells, where);
  }

  async *#credits(input: Input): AsyncGenerator<Row, void, undefined> {
    if ('query' in input) return yield* this.#inputs.database!.credits(input.query);
    for await (const { cells, where } of readCsv(input.path, '--credits', CREDIT_COLUMNS, [
      ['reference'],
    ])) {
      yield readCredit(cells, where);
    }
  }

  async *#marks(input: Exclude<Inputs['marks'], undefined>): AsyncGenerator<Row, void, undefined> {
    if ('table' in input) return yield* this.#inputs.database!.marks(input.table);
    const { tenant } = this.#inputs;
    for await (const { cells, where } of readCsv(
      input.path,
      '--marks',
      ['key', 'reference'],
      [['key', 'reference']],
    )) {
      const useless = cells.key ? undefined : uselessRow(cells.reference, where);
      if (cells.key) yield readMarkKey(cells.key, where);
      else if (useless !== undefined) yield useless;
      else {
        const reference = cells.reference!;
        const { key } = await identify({ tenant, kind: PAYMENT_SUCCEEDED, reference });
        yield { kind: 'mark', digest: key };
      }
    }
  }
}

/** Parses --orders or --credits. SQL begins with its verb, unlike a file name. */
export function readInput(value: string | undefined, option: string): Input {
  if (value === undefined || value.trim() === '') {
    throw usageFailure(
      `no ${option}`,
      `a CSV file, or a query: ${option} 'SELECT reference, amount FROM …'`,
    );
  }
  return /^\s*(--|\/\*|\(|(select|with|table|values)\b)/i.test(value) && /\s/.test(value.trim())
    ? { query: value }
    : { path: value };
}
