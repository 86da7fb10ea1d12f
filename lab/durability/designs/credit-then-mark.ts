import type { PoolClient } from 'pg';
import type { Design } from './design.js';

/**
 * A common design: look for the key, credit, then write the key. A lock keeps concurrent runs from
 * doubling, but a crash in between still credits again.
 */
export const creditThenMark: Design = {
  loses: false,
  doubles: true,
  store: ({ pool }) => ({
    async isDone(key) {
      const { rowCount } = await pool.query('SELECT FROM marks WHERE key = $1', [key]);
      return rowCount === 1;
    },
    async run(key, work) {
      const client = await pool.connect();
      try {
        if (!(await locked(client, key))) return 'in_progress';
        try {
          const { rowCount } = await client.query('SELECT FROM marks WHERE key = $1', [key]);
          if (rowCount === 1) return 'duplicate';
          await work(client);
          await client.query('INSERT INTO marks (key) VALUES ($1) ON CONFLICT DO NOTHING', [key]);
          return 'done';
        } finally {
          await client.query('SELECT pg_advisory_unlock(hashtextextended($1, 0))', [key]);
        }
      } finally {
        client.release();
      }
    },
  }),
};

async function locked(client: PoolClient, key: string): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(
    'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS locked',
    [key],
  );
  return rows[0]!.locked;
}
