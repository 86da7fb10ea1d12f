/**
 * The files that credit orders, as TypeScript in ES modules. JavaScript omits the text between ‹
 * and ›: see render.ts.
 */
import { RECIPE } from './recipe.js';
import type { Project } from './project.js';

/** The line that keeps marks in memory. The user must replace it before customers pay. */
export const MEMORY_LINE = 'export const store = memoryStore();';

const CLIENT = `createClient({
  baseUrl: process.env['PAYLINK_BASE_URL'],
  apiKey: process.env['PAYLINK_API_KEY'],
})`;

const isNext = ({ framework }: Project): boolean => framework.startsWith('next');

/** Next.js loads .env itself, and AWS sets the environment of a function. */
export function loadsDotenv({ framework }: Project): boolean {
  return !framework.startsWith('next') && framework !== 'lambda';
}

export function paymentsFile(project: Project): string {
  const { database } = project;
  const head = [
    ...(loadsDotenv(project) ? ["import { existsSync } from 'node:fs';"] : []),
    `import { createClient${isNext(project) ? '‹, type PaylinkClient›' : ''} } from ` +
      `'@paylink/client';`,
    `import { createPayments${database === 'memory' ? ', memoryStore' : ''} } from ` +
      `'@paylink/payments';`,
    ...(database === 'memory'
      ? []
      : [
          "import { postgresStore } from '@paylink/postgres';",
          `import { Pool } from '${database}';`,
        ]),
    "import { creditOrder } from './credit-order';",
  ];
  const dotenv = `// The settings of your machine. In production the environment has them.
if (existsSync('.env')) process.loadEnvFile('.env');
`;
  const orm =
    project.orm === undefined
      ? ''
      : `// A pool beside ${project.orm}, on the same database. The README of @paylink/postgres has the line that
// credits in a transaction of ${project.orm} instead.
`;
  const pool = `${orm}export const pool = new Pool({ connectionString: process.env['DATABASE_URL'] });
// Without a listener, Node exits when an idle connection breaks.
pool.on('error', (error) => console.error('an idle connection broke', error));
`;
  const client = isNext(project)
    ? `let client‹: PaylinkClient | undefined›;
/** Made at its first use: \`next build\` imports every route and may not have the API key. */
export function paylink()‹: PaylinkClient› {
  client ??= ${CLIENT.replaceAll('\n', '\n  ')};
  return client;
}
`
    : `export const paylink = ${CLIENT};\n`;
  const store =
    database === 'memory'
      ? `// Before customers pay, replace this line: a restart forgets which orders were credited.
// The line for PostgreSQL is: export const store = postgresStore(pool);
${MEMORY_LINE}
`
      : 'export const store = postgresStore(pool);\n';
  const credit =
    database === 'memory'
      ? 'credit: (payment) => creditOrder(payment),'
      : 'credit: (payment, { tx }) => creditOrder(tx, payment),';
  const payments = `/** Says how an order is credited. The webhook, the return page and the schedule share it. */
export const payments = createPayments({
  client: paylink,
  store,
  ${credit}
});
`;
  return [
    `${head.join('\n')}\n`,
    ...(loadsDotenv(project) ? [dotenv] : []),
    ...(database === 'memory' ? [] : [pool]),
    client,
    store,
    payments,
  ].join('\n');
}

export function creditFile(project: Project): string {
  if (project.database !== 'memory') return project.isTypeScript ? RECIPE.ts : RECIPE.js;
  // Next.js loads a module once per route.
  const orders = isNext(project)
    ? `const kept = globalThis‹ as { orders?: Map<string, Order> }›;
export const orders = (kept.orders ??= new Map‹<string, Order>›());`
    : 'export const orders = new Map‹<string, Order>›();';
  return `import { WebhookError } from '@paylink/payments';

‹interface Payment {
  readonly reference: string;
  readonly amount?: number;
  readonly currency?: string;
}

interface Order {
  readonly amount: number;
  readonly currency: string;
  paidAt?: Date;
}

›/** Before customers pay, keep the orders in a database: a restart forgets this map. */
${orders}

/** Credits the order of a confirmed payment. Returns the number of orders that it changed. */
export function creditOrder({ reference, amount, currency }‹: Payment›)‹: 1 | 'already_credited'› {
  const order = orders.get(reference);
  // 503: the next delivery credits the order.
  if (order === undefined) throw new WebhookError('unknown_order', { status: 503 });
  if (order.paidAt !== undefined) return 'already_credited';
  // 409: the order changed after its link was created. A retry cannot help: a person must decide.
  if (amount !== order.amount || currency !== order.currency) {
    throw new WebhookError('amount_differs', { status: 409 });
  }
  order.paidAt = new Date();
  return 1;
}
`;
}

export function ordersFile(project: Project): string {
  const isMemory = project.database === 'memory';
  const page = isNext(project) ? '/api/payments' : '/payments';
  const link = isNext(project) ? 'paylink()' : 'paylink';
  const insert = isMemory
    ? "orders.set(reference, { amount, currency: 'XOF' });"
    : `await pool.query('INSERT INTO orders (reference, amount, currency) VALUES ($1, $2, $3)', [
    reference,
    amount,
    'XOF',
  ]);`;
  const isPaid = isMemory
    ? 'return orders.get(reference)?.paidAt !== undefined;'
    : `const { rowCount } = await pool.query(
    'SELECT FROM orders WHERE reference = $1 AND paid_at IS NOT NULL',
    [reference],
  );
  return rowCount === 1;`;
  const known = isMemory
    ? "if (!orders.has(reference)) return 'unknown';"
    : `const { rowCount } = await pool.query('SELECT FROM orders WHERE reference = $1', [reference]);
  if (rowCount === 0) return 'unknown';`;
  const unpaid = isMemory
    ? `const unpaid = [...orders].filter(([, order]) => order.paidAt === undefined);
  return payments.reconcile(unpaid.map(([reference]) => reference));`
    : `const { rows } = await pool.query‹<{ reference: string }>›(
    'SELECT reference FROM orders WHERE paid_at IS NULL ORDER BY reference',
  );
  return payments.reconcile(rows.map((row) => row.reference));`;
  return `import { randomUUID } from 'node:crypto';
${isMemory ? "import { orders } from './credit-order';\n" : ''}import { payments, paylink${isMemory ? '' : ', pool'} } from './payments';

/** Inserts an order, then creates its payment link. Send the customer to \`url\`. */
export async function createOrder(amount‹: number›) {
  // A reference must never repeat, not even after you restore a backup.
  const reference = randomUUID();
  ${insert}
  const link = await ${link}.createPaymentLink(
    {
      amount,
      reference,
      single_use: true,
      return_url: \`\${process.env['SHOP_URL']}${page}/\${reference}\`,
    },
    { idempotencyKey: reference },
  );
  return { reference, url: link.url };
}

export async function isPaid(reference‹: string›)‹: Promise<boolean>› {
  ${isPaid}
}

/** For the return page. Credits the order if its notification is late or lost. */
export async function orderStatus(reference‹: string›)‹: Promise<string>› {
  ${known}
  try {
    const { status } = await payments.settle(reference);
    return status;
  } catch (error) {
    console.error(error);
    return 'pending'; // The service may be down. The webhook or reconcile credits the order.
  }
}

/** Credits the paid orders that nothing else has credited. Run it every few minutes. */
export async function reconcileOrders() {
  ${unpaid}
}
`;
}

export const MIGRATION = `import { pool, store } from './payments';

async function migrate()‹: Promise<void>› {
  await store.migrate();
  // If your orders have a table, delete this statement.
  // Then name the columns of your table in credit-order and payment-orders.
  await pool.query(\`CREATE TABLE IF NOT EXISTS orders (
    reference text PRIMARY KEY,
    amount bigint NOT NULL,
    currency text NOT NULL,
    paid_at timestamptz
  )\`);
  await pool.end();
}

void migrate();
`;
