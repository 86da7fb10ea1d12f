import type { Design } from './design.js';

/**
 * A common design: claim the key with a row, then credit. A crash in between leaves the claim, so
 * the order is never credited.
 */
export const markThenCredit: Design = {
  loses: true,
  doubles: false,
  store: ({ pool }) => ({
    async isDone(key) {
      const { rowCount } = await pool.query('SELECT FROM marks WHERE key = $1', [key]);
      return rowCount === 1;
    },
    async run(key, work) {
      const { rowCount } = await pool.query(
        'INSERT INTO marks (key) VALUES ($1) ON CONFLICT DO NOTHING',
        [key],
      );
      if (rowCount === 0) return 'duplicate';
      try {
        await work(pool);
      } catch (error) {
        await pool.query('DELETE FROM marks WHERE key = $1', [key]);
        throw error;
      }
      return 'done';
    },
  }),
};
