/** The shop of the demo, with the release that breaks its credit if DESIGN says so. */
import { openDatabase } from '../../../examples/shop/src/database.js';
import { releaseOf } from '../../../examples/shop/src/demo/release.js';
import { ordersIn } from '../../../examples/shop/src/payments.js';

const db = openDatabase(process.env['DATABASE_URL']!);
const release = releaseOf(ordersIn(db));
release.isBroken = process.env['DESIGN'] === 'the broken release';
export const { orders } = release;

export function createOrder({
  reference,
  amount,
  currency,
}: {
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
}): void {
  db.prepare("INSERT INTO orders VALUES (?, 'poster', '', ?, ?, NULL)").run(
    `order of ${reference}`,
    amount,
    currency,
  );
  db.prepare('INSERT INTO attempts (reference, order_id, number) VALUES (?, ?, 1)').run(
    reference,
    `order of ${reference}`,
  );
}

export const effects = (reference: string): number =>
  db.prepare('SELECT 1 FROM credits WHERE reference = ?').all(reference).length;
