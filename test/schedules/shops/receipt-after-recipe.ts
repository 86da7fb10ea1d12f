/** The recipe at the address DESIGN, with a fault: it writes a receipt after the commit. */
import type { Orders } from '@paylink/payments';

const { orders: recipe, close } = (await import(process.env['DESIGN']!)) as {
  readonly orders: Orders;
  readonly close: () => unknown;
};
const url = process.env['DATABASE_URL']!;

async function write(reference: string): Promise<void> {
  if (url.startsWith('mysql')) {
    const { createConnection } = await import('mysql2/promise');
    const connection = await createConnection(url);
    await connection.execute("INSERT INTO outbox VALUES ('receipt', ?)", [reference]);
    return connection.end();
  }
  const { Client } = await import('pg');
  const client = new Client(url);
  client.on('error', () => undefined);
  await client.connect();
  await client.query("INSERT INTO outbox VALUES ('receipt', $1)", [reference]);
  return client.end();
}

export const orders: Orders = {
  ...recipe,
  async credit(payment, context) {
    const count = await recipe.credit(payment, context);
    if (Number(count) > 0) await write(payment.reference);
    return count;
  },
};

export { close };
