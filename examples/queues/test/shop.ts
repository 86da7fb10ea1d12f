/** Orders on a real PostgreSQL, and a service that says that each is paid. */
import { createPayments, type Order, type Payments } from '@paylink/payments';
import { Pool } from 'pg';
import { startPostgres } from '../../../test/servers/postgres.js';

export async function startShop() {
  const server = await startPostgres({ fsync: 'off' });
  const pool = new Pool({ connectionString: server.url });
  pool.on('error', () => undefined);
  await pool.query(
    `CREATE TABLE orders (reference text PRIMARY KEY, amount int NOT NULL DEFAULT 5000,
     currency text NOT NULL DEFAULT 'XOF', paid_at timestamptz, credits int NOT NULL DEFAULT 0)`,
  );
  const creditsOf = async (reference: string): Promise<number | undefined> => {
    const sql = 'SELECT credits FROM orders WHERE reference = $1';
    return (await pool.query<{ credits: number }>(sql, [reference])).rows[0]?.credits;
  };
  return {
    url: server.url,
    payments: paymentsOn(pool),
    creditsOf,
    async add(...references: string[]): Promise<void> {
      const sql = 'INSERT INTO orders (reference) SELECT unnest($1::text[])';
      await pool.query(sql, [references]);
    },
    async close(): Promise<void> {
      await pool.end();
      await server.close();
    },
  };
}

/** @param beforeCommit called while the credit is written and not committed */
export function paymentsOn(pool: Pool, beforeCommit?: () => Promise<unknown>): Payments {
  return createPayments({
    client: {
      getPayment: async (reference) => ({
        reference,
        status: 'success',
        amount: 5_000,
        currency: 'XOF',
      }),
    },
    orders: {
      async find(reference) {
        const sql = 'SELECT *, paid_at IS NOT NULL AS paid FROM orders WHERE reference = $1';
        return (await pool.query<Order>(sql, [reference])).rows[0];
      },
      async credit({ reference, amount }) {
        const client = await pool.connect();
        try {
          await client.query('BEGIN');
          const { rowCount } = await client.query(
            'UPDATE orders SET paid_at = now(), credits = credits + 1 WHERE reference = $1 AND amount = $2 AND paid_at IS NULL',
            [reference, amount],
          );
          await beforeCommit?.();
          await client.query('COMMIT');
          return rowCount;
        } finally {
          client.release();
        }
      },
    },
    logger: { warn: () => undefined, error: () => undefined },
  });
}
