// Generated from examples/shop/src/credit-order.ts by `pnpm docs:write`.
export const RECIPE = {
  ts: `import { WebhookError } from '@paylink/payments';

interface Payment {
  readonly reference: string;
  readonly amount?: number;
  readonly currency?: string;
}

interface Order {
  readonly amount: number | string;
  readonly currency: string;
  readonly paid_at: Date | null;
}

interface Tx {
  query(sql: string, values: unknown[]): Promise<{ rows: unknown[] }>;
}

const FIND = 'SELECT amount, currency, paid_at FROM orders WHERE reference = $1 FOR UPDATE';
const PAY = 'UPDATE orders SET paid_at = now() WHERE reference = $1 RETURNING reference';

/** Credits the order of a confirmed payment. Returns the number of rows that it changed. */
export async function creditOrder(tx: Tx, { reference, amount, currency }: Payment) {
  const { rows } = await tx.query(FIND, [reference]);
  const [order] = rows as Order[];
  // 503: the order may not be committed yet. The next delivery or reconcile credits the order.
  if (order === undefined) throw new WebhookError('unknown_order', { status: 503 });
  if (order.paid_at !== null) return 'already_credited';
  // 409: the order changed after its link was created. A retry cannot help: a person must decide.
  if (amount !== Number(order.amount) || currency !== order.currency) {
    throw new WebhookError('amount_differs', { status: 409 });
  }
  const credited = await tx.query(PAY, [reference]);
  return credited.rows.length;
}
`,
  js: `import { WebhookError } from '@paylink/payments';

const FIND = 'SELECT amount, currency, paid_at FROM orders WHERE reference = $1 FOR UPDATE';
const PAY = 'UPDATE orders SET paid_at = now() WHERE reference = $1 RETURNING reference';

/** Credits the order of a confirmed payment. Returns the number of rows that it changed. */
export async function creditOrder(tx, { reference, amount, currency }) {
  const { rows } = await tx.query(FIND, [reference]);
  const [order] = rows;
  // 503: the order may not be committed yet. The next delivery or reconcile credits the order.
  if (order === undefined) throw new WebhookError('unknown_order', { status: 503 });
  if (order.paid_at !== null) return 'already_credited';
  // 409: the order changed after its link was created. A retry cannot help: a person must decide.
  if (amount !== Number(order.amount) || currency !== order.currency) {
    throw new WebhookError('amount_differs', { status: 409 });
  }
  const credited = await tx.query(PAY, [reference]);
  return credited.rows.length;
}
`,
};
