import type { Orders } from '@paylink/payments';
import Database from 'libsql';

type Row = { reference: string; amount: number; currency: string; paid_reference: string | null };
const db = new Database(process.env['DATABASE_FILE'] ?? 'shop.db', { timeout: 5_000 });
db.exec('PRAGMA journal_mode = WAL');
const LINKS = 'attempts JOIN purchases ON id = purchase';

// A customer who tries again gets a new link, and therefore a new row in attempts.
export const orders: Orders = {
  // Only the link in paid_reference is paid. A paid purchase's other links are closed.
  find(reference) {
    const link = db.prepare(`SELECT * FROM ${LINKS} WHERE reference = ?`).get(reference) as Row;
    if (link === undefined) return undefined;
    const paid = link.paid_reference === link.reference;
    return { ...link, paid, closed: link.paid_reference !== null && !paid };
  },
  credit({ reference, amount, currency }) {
    const update = db.prepare(
      `UPDATE purchases SET paid_reference = ?
        WHERE id = (SELECT purchase FROM attempts WHERE reference = ?) AND amount = ?
        AND currency = ? AND paid_reference IS NULL`,
    );
    return update.run(reference, reference, amount, currency).changes;
  },
  // Includes a paid purchase's other links: reconcile lists a second payment as undecided.
  unpaid: () => references('paid_reference IS NOT reference'),
  paid: () => references('paid_reference = reference'),
};

function references(condition: string): string[] {
  const since = "attempts.created_at > datetime('now', '-30 days')";
  const select = `SELECT reference FROM ${LINKS}
    WHERE ${condition} AND ${since} ORDER BY attempts.created_at`;
  return (db.prepare(select).all() as Row[]).map(({ reference }) => reference);
}

export const close = (): void => void db.close();
