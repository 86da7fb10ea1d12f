/** The SQL of the inbox. */
import type { FailedDelivery, KeptDelivery } from '@paylink/payments';
import { bytes, digestOf, text } from './literals.js';

const COLUMNS = 'key, kind, reference, tenant, body, code, attempts, first_failed_at';

/**
 * Returns one JSON column, because drivers and ORMs read times, bytes and long numbers differently.
 */
const FACTS = `'key', encode(key, 'hex'), 'kind', kind, 'reference', reference, 'tenant', tenant,
  'code', code, 'attempts', attempts, 'size', octet_length(body),
  'first', round(extract(epoch FROM first_failed_at) * 1000),
  'last', round(extract(epoch FROM last_failed_at) * 1000)`;

export class InboxSql {
  readonly #table: string;
  readonly #isListed: string;

  /** Expects quoted names. */
  constructor(table: string, marks: string) {
    this.#table = table;
    // A success writes only its mark and leaves this table unchanged.
    this.#isListed = `NOT EXISTS (SELECT FROM ${marks} m WHERE m.key = ${table}.key)`;
  }

  migration(): string {
    return `CREATE TABLE IF NOT EXISTS ${this.#table} (
  key bytea PRIMARY KEY CHECK (octet_length(key) = 32),
  kind text NOT NULL,
  reference text NOT NULL,
  tenant text,
  body bytea NOT NULL,
  code text NOT NULL,
  attempts bigint NOT NULL,
  first_failed_at timestamptz(3) NOT NULL DEFAULT now(),
  last_failed_at timestamptz(3) NOT NULL DEFAULT now()
)`;
  }

  get found(): string {
    return `to_regclass(${text(this.#table)})`;
  }

  /** Writes rows with different keys. */
  keep(rows: readonly FailedRow[]): string {
    const tuples = rows.map(({ values, attempts, since }) => {
      // The rows of one statement keep the order in which they came.
      const age = Math.round(performance.now() - since);
      return `(${values}, ${attempts}, now() - interval '${age} milliseconds')`;
    });
    return `INSERT INTO ${this.#table} AS kept (${COLUMNS}) VALUES
${tuples.join(',\n')}
ON CONFLICT (key) DO UPDATE SET code = excluded.code,
  attempts = kept.attempts + excluded.attempts, last_failed_at = excluded.last_failed_at`;
  }

  discard(key: string): string {
    return `DELETE FROM ${this.#table} WHERE key = ${bytes(key)}`;
  }

  /** Returns a `delivery` per row, the oldest first. */
  list(limit: number, after: Pick<KeptDelivery, 'key' | 'firstFailedAt'> | undefined): string {
    const isAfter =
      after === undefined
        ? ''
        : `AND (first_failed_at, key) >
  ('${after.firstFailedAt.toISOString()}'::timestamptz, ${bytes(digestOf(after.key))})`;
    return `SELECT json_build_object(${FACTS})::text AS delivery FROM ${this.#table}
WHERE ${this.#isListed} ${isAfter} ORDER BY first_failed_at, key LIMIT ${limit}`;
  }

  /** Returns a `delivery` with its body, or no row. */
  get(key: string): string {
    return `SELECT json_build_object(${FACTS}, 'body', encode(body, 'base64'))::text AS delivery
FROM ${this.#table} WHERE key = ${bytes(key)} AND ${this.#isListed}`;
  }

  /** Returns the number of deleted rows as `forgotten`. */
  forget(olderThan: Date): string {
    const isOld = `last_failed_at < '${olderThan.toISOString()}'`;
    return `WITH old AS (DELETE FROM ${this.#table} WHERE ${isOld} RETURNING 1)
SELECT count(*)::int AS forgotten FROM old`;
  }

  /** Returns another part of a WITH, which deletes the rows whose keys are in `name`. */
  deleteThoseOf(name: string): string {
    return `, handled AS (DELETE FROM ${this.#table} WHERE key IN (SELECT key FROM ${name}))`;
  }
}

/** The row of one key's failed deliveries. */
export interface FailedRow {
  readonly values: string;
  readonly attempts: number;
  /** `performance.now()` of the first attempt. */
  readonly since: number;
}

/** @throws TypeError if PostgreSQL cannot store a value */
export function valuesOf(failed: FailedDelivery): string {
  const { key, kind, reference, tenant, rawBody, code } = failed;
  const owner = tenant === undefined ? 'NULL' : text(tenant);
  const body = bytes(Buffer.from(rawBody).toString('hex'));
  return [bytes(digestOf(key)), text(kind), text(reference), owner, body, text(code)].join(', ');
}

/** Reads the `delivery` of a row. */
export function deliveryOf(row: unknown): KeptDelivery & { readonly body?: string } {
  const { delivery } = row as { readonly delivery: string };
  const { first, last, tenant, ...facts } = JSON.parse(delivery) as Fields;
  return {
    ...facts,
    tenant: tenant ?? undefined,
    firstFailedAt: new Date(first),
    lastFailedAt: new Date(last),
  };
}

interface Fields extends Omit<KeptDelivery, 'tenant' | 'firstFailedAt' | 'lastFailedAt'> {
  readonly tenant: string | null;
  readonly first: number;
  readonly last: number;
  readonly body?: string;
}
