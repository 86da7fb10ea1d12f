/** `order` and `books` of the programs: stores an unpaid order, prints what the database holds. */
import { createConnection } from 'mysql2/promise';
import { Client } from 'pg';

const url = process.env.DATABASE_URL;
const { REFERENCE, AMOUNT, CURRENCY } = process.env;

async function query(sql) {
  if (url.startsWith('mysql')) {
    const connection = await createConnection(url);
    const [rows] = await connection.query(sql);
    await connection.end();
    return rows;
  }
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(sql);
  await client.end();
  return rows;
}

if (process.argv[2] === 'order') {
  await query(
    `INSERT INTO orders (reference, amount, currency) VALUES ('${REFERENCE}', ${AMOUNT}, '${CURRENCY}')`,
  );
} else {
  const [order] = await query(
    `SELECT paid_at, (SELECT count(*) FROM receipts WHERE reference = '${REFERENCE}') AS effects
     FROM orders WHERE reference = '${REFERENCE}'`,
  );
  console.log(JSON.stringify({ paid: order.paid_at !== null, effects: Number(order.effects) }));
}
