import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Order } from '@paylink/payments';
import { build } from 'esbuild';
import { afterAll, expect, it, vi } from 'vitest';
import { install, installPackage } from '../../../test/runtimes/install.js';
import { nodes } from '../../../test/runtimes/versions.js';
import type { Call } from './d1-worker.js';
import { testRecipe, type RecipeOptions } from './suite.js';

vi.setConfig({ hookTimeout: 60_000 });

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

// Not in a lockfile, because Miniflare is heavy and needs Node 22.
const node22 = await install(nodes.find(({ version }) => version.startsWith('22.'))!);
if ('missing' in node22) throw new Error(node22.missing);
const miniflare = await installPackage({ package: 'miniflare', version: '4.20260730.0' });

const folder = mkdtempSync(join(tmpdir(), 'paylink-d1-'));
const worker = join(folder, 'worker.mjs');
await build({
  entryPoints: [at('d1-worker.ts')],
  outfile: worker,
  bundle: true,
  format: 'esm',
  external: ['cloudflare:*'],
});
const child = spawn(
  node22.executable,
  [at('d1-server.mjs'), join(miniflare, 'dist', 'src', 'index.js'), worker],
  // A killed Miniflare leaves temporary files, which are deleted with the folder.
  {
    cwd: folder,
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  },
);
// The group, because Miniflare's runtime is a separate process.
const kill = (): void => void process.kill(-child.pid!, 'SIGKILL');
process.once('exit', kill);
afterAll(async () => {
  process.off('exit', kill);
  const ended = once(child, 'exit');
  kill();
  await ended;
  rmSync(folder, { recursive: true, force: true });
});
const [url] = (await once(createInterface(child.stdout), 'line')) as [string];

type Payment = Extract<Call, { name: 'credit' | 'credit with more writes' }>['payment'];

async function call<Value>(body: Call): Promise<Value> {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  const { value, message } = (await response.json()) as { value: Value; message?: string };
  if (message !== undefined) throw new Error(message);
  return value;
}
const run = (sql: string, ...values: unknown[]): Promise<unknown> =>
  call({ name: 'sql', sql, values });

const sqlOf = (name: string): string =>
  readFileSync(at(`../tables/${name}.sql`), 'utf8').replace(/--.*$/gm, '');
for (const name of ['sqlite', 'sqlite-more-writes'])
  for (const statement of sqlOf(name).split(';\n').filter(Boolean)) await run(statement);
// D1 counts the rows that a trigger changes.
await run(
  'CREATE TRIGGER touch AFTER UPDATE OF paid_at ON orders BEGIN UPDATE orders SET currency = currency WHERE reference = NEW.reference; END',
);

const orders = {
  find: (reference: string) => call<Order | null>({ name: 'find', reference }),
  credit: (payment: Payment) => call<number>({ name: 'credit', payment }),
  unpaid: () => call<string[]>({ name: 'unpaid' }),
  paid: () => call<string[]>({ name: 'paid' }),
};
const options: RecipeOptions = {
  createOrder: ({ reference, amount, currency }) =>
    run(
      'INSERT INTO orders (reference, amount, currency) VALUES (?, ?, ?)',
      reference,
      amount,
      currency,
    ),
  later: {
    edit: (reference) =>
      run('UPDATE orders SET currency = ? WHERE reference = ?', 'XOF', reference),
    refund: (reference) =>
      run('UPDATE orders SET refunded_at = CURRENT_TIMESTAMP WHERE reference = ?', reference),
  },
};
const close = (): void => undefined;
testRecipe('D1', { orders, close }, options);

const moreWrites = {
  ...orders,
  credit: (payment: Payment) => call<number>({ name: 'credit with more writes', payment }),
};
const first = async (sql: string, ...values: unknown[]): Promise<number> =>
  (await call<{ value: number } | null>({ name: 'first', sql, values }))?.value ?? 0;
testRecipe(
  'D1 with more writes',
  { orders: moreWrites, close },
  {
    ...options,
    effects: (reference) =>
      first('SELECT count(*) AS value FROM outbox WHERE reference = ?', reference),
    total: () => first('SELECT balance AS value FROM wallets'),
  },
);

it('D1 leaves no mark if a further write fails', async () => {
  const payment = { reference: 'half', amount: 1, currency: 'XOF' };
  await options.createOrder({ ...payment, tenant: null });
  await run("INSERT INTO outbox VALUES ('receipt', 'half')");
  await expect(moreWrites.credit(payment)).rejects.toThrow(/UNIQUE/);
  expect(await orders.find('half')).toMatchObject({ paid: false });
});
