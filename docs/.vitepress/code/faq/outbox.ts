import type { ConfirmedPayment } from '@paylink/payments';
import type { Pool } from 'pg';

/** For `credit`: commits the order and its receipt together, or neither. */
export async function credit(pool: Pool, { reference, amount, currency }: ConfirmedPayment) {
  const client = await pool.connect();
  // Without a listener, a lost connection ends the process.
  client.on('error', console.error);
  try {
    await client.query('BEGIN');
    const { rowCount } = await client.query(
      `UPDATE orders SET paid_at = now() WHERE reference = $1
        AND amount = $2 AND currency = $3 AND paid_at IS NULL`,
      [reference, amount, currency],
    );
    if (rowCount === 1) {
      await client.query("INSERT INTO outbox (kind, reference) VALUES ('receipt', $1)", [
        reference,
      ]);
    }
    await client.query('COMMIT');
    client.release();
    return rowCount;
  } catch (error) {
    client.release(true); // Closes the connection, which rolls back.
    throw error;
  }
}

/** For a scheduled function. A sender takes receipts for five minutes, and others skip these. */
export async function sendReceipts(pool: Pool, send: (reference: string) => Promise<void>) {
  const { rows } = await pool.query<{ reference: string }>(
    `UPDATE outbox SET tried_at = now() WHERE reference IN (
      SELECT reference FROM outbox WHERE sent_at IS NULL
      AND (tried_at IS NULL OR tried_at < now() - interval '5 minutes')
      LIMIT 20 FOR UPDATE SKIP LOCKED) RETURNING reference`,
  );
  for (const { reference } of rows) {
    try {
      await send(reference);
      await pool.query('UPDATE outbox SET sent_at = now() WHERE reference = $1', [reference]);
    } catch (error) {
      // One address that fails must not hold back the receipts after it.
      console.error('receipt not sent', reference, (error as Error).message);
    }
  }
}
