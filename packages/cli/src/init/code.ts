/**
 * The files that credit orders, as TypeScript in ES modules. JavaScript omits the text between ‹
 * and ›: see render.ts.
 */
import { prismaClientOf } from './databases.js';
import type { Project } from './project.js';
import { readRecipe, readTable } from './recipes.js';

export const isNext = ({ framework }: Project): boolean => framework.startsWith('next');

/** Next.js loads .env itself, and AWS sets the environment of a function. */
export const loadsDotenv = (project: Project): boolean =>
  !isNext(project) && project.framework !== 'lambda';

export const DOTENV = `import { existsSync } from 'node:fs';

// The settings of your machine. In production the environment has them.
if (existsSync('.env')) process.loadEnvFile('.env');
`;

export function paymentsFile(project: Project): string {
  const create = `createClient({
  baseUrl: process.env['PAYLINK_BASE_URL'],
  apiKey: process.env['PAYLINK_API_KEY'],
})`;
  const client = isNext(project)
    ? `let client‹: PaylinkClient | undefined›;
/** Made at its first use: \`next build\` imports every route and may not have the API key. */
export function paylink()‹: PaylinkClient› {
  client ??= ${create.replaceAll('\n', '\n  ')};
  return client;
}
`
    : `export const paylink = ${create};\n`;
  const asked = isNext(project)
    ? '{ getPayment: (reference‹: string›, options‹: object›) => paylink().getPayment(reference, options) }'
    : 'paylink';
  return `import { createClient${isNext(project) ? '‹, type PaylinkClient›' : ''} } from '@paylink/client';
import { createPayments } from '@paylink/payments';
import { close, insertOrder, orders } from './orders';

${client}
/** Says how an order is credited. The webhook, the return page and the schedule share it. */
export const payments = createPayments({ client: ${asked}, orders });

// For paylink reconcile, verify, explain and doctor.
export { close, insertOrder as createOrder, orders };
`;
}

/** The recipe of the database, and the statement that inserts an order. */
export function ordersFile(project: Project): string {
  const { database } = project;
  const dotenv = loadsDotenv(project) ? "import './load-env';\n" : '';
  const recipe = database.recipe === 'memory' ? memoryRecipe(project) : recipeOf(project);
  const table =
    database.createTable === undefined
      ? ''
      : `
const TABLE = \`${readTable(database.dialect!).replace(/^CREATE TABLE /, 'CREATE TABLE IF NOT EXISTS ')}\`;

/** If your orders have a table, delete this function, and name your columns above. */
export async function createTable()‹: Promise<void>› {
  ${database.createTable}
}
`;
  return `${dotenv}${recipe}
‹interface NewOrder {
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
}

›export async function insertOrder({ reference, amount, currency }‹: NewOrder›)‹: Promise<void>› {
  ${database.insert}
}
${table}`;
}

function recipeOf({ database, folder, source, isTypeScript }: Project): string {
  const client = prismaClientOf(folder);
  const up = source === '' ? './' : '../';
  return readRecipe(database.recipe, isTypeScript).replace(
    /'\.\/\.cache\/\w+\/client\.js'/,
    client === undefined ? "'@prisma/client'" : `'${up}${client}/client.js'`,
  );
}

/** Next.js loads a module once per route. */
function memoryRecipe(project: Project): string {
  const kept = `const kept = globalThis‹ as { memory?: ReturnType<typeof memoryOrders> }›;
const memory = (kept.memory ??= memoryOrders());`;
  return `import { memoryOrders } from '@paylink/payments';

// Before customers pay, keep the orders in a database: a restart forgets them.
${isNext(project) ? kept : 'const memory = memoryOrders();'}

export const orders = memory.orders;

export const close = ()‹: void› => undefined;
`;
}

export function checkoutFile(project: Project): string {
  const page = isNext(project) ? '/api/payments' : '/payments';
  return `import { randomUUID } from 'node:crypto';
import { insertOrder } from './orders';
import { paylink } from './payments';

/** Inserts an order, then creates its payment link. Send the customer to \`url\`. */
export async function checkout(amount‹: number›)‹: Promise<{ reference: string; url: string }>› {
  // A reference must never repeat, not even after you restore a backup.
  const reference = randomUUID();
  await insertOrder({ reference, amount, currency: 'XOF' });
  const link = await ${isNext(project) ? 'paylink()' : 'paylink'}.createPaymentLink(
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
`;
}

export const TABLE_FILE = `import { close, createTable } from './orders';

void createTable().then(close);
`;
