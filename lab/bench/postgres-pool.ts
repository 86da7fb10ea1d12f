import { createRequire } from 'node:module';

/** The part of `pg` that the benchmark uses. */
interface Queryable {
  query(
    sql: string,
    values?: readonly unknown[],
  ): Promise<{ readonly rows: unknown[]; readonly rowCount: number | null }>;
}

export interface PoolClient extends Queryable {
  release(): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

export interface Pool extends Queryable {
  connect(): Promise<PoolClient>;
  query(
    sql: string | { text: string },
    values?: readonly unknown[],
  ): Promise<{ readonly rows: unknown[]; readonly rowCount: number | null }>;
  end(): Promise<void>;
}

const pg = createRequire(import.meta.url)('pg') as { readonly Pool: new (config: object) => Pool };

export function openPool(connectionString: string, max: number): Pool {
  return new pg.Pool({ connectionString, max });
}
