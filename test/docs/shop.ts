/** A merchant's shop with its books in PostgreSQL, and its operator's folder. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@paylink/client';
import { startEmulator, type EmulatorOptions } from '@paylink/emulator';
import { postgresStore } from '@paylink/postgres';
import { TEST_SECRET } from '@paylink/testing';
import { build } from 'esbuild';
import { Pool } from 'pg';
import { onTestFinished } from 'vitest';
import { newFolder } from '../../packages/cli/test/paylink.js';
import { startPostgres } from '../servers/postgres.js';
import { blockOf, ordersTable } from './blocks.js';

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** Bundles the module of docs/schedule.md with the recipe into one file. */
export async function buildModule(path: string, code?: string): Promise<void> {
  await build({
    stdin: {
      contents: code ?? (await blockOf('docs/schedule.md', '// payments.ts')),
      loader: 'ts',
      // The recipe's folder.
      resolveDir: at('examples/shop/src'),
    },
    outfile: path,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@paylink/source', 'module'],
    external: ['pg'],
    logLevel: 'error',
  });
}

/** Opens a shop without orders until the test ends. */
export async function openShop(emulation: EmulatorOptions = {}) {
  const server = await startPostgres({ fsync: 'off' });
  const pool = new Pool({ connectionString: server.url });
  pool.on('error', () => undefined);
  const emulator = await startEmulator(emulation);
  onTestFinished(async () => {
    await emulator.close();
    await pool.end();
    await server.close();
  });
  await postgresStore(pool).migrate();
  await pool.query(await ordersTable());
  const env = {
    DATABASE_URL: server.url,
    PAYLINK_BASE_URL: emulator.baseUrl,
    PAYLINK_API_KEY: emulator.apiKey,
    WEBHOOK_SECRET: TEST_SECRET,
  };
  const folder = newFolder();
  const settings = Object.entries(env).map(([name, value]) => `${name}='${value}'\n`);
  writeFileSync(join(folder, '.env'), settings.join(''));
  symlinkSync(at('test/node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, 'dist'));
  await buildModule(join(folder, 'dist', 'payments.js'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const paylink = createClient({ baseUrl: emulator.baseUrl, apiKey: emulator.apiKey });

  return {
    server,
    pool,
    emulator,
    env,
    folder,
    /** Inserts an order, then creates its link. A paid order's notification goes out. */
    async order(reference: string, { isPaid = true, amount = 15_000 } = {}): Promise<string> {
      const sql = "INSERT INTO orders (reference, amount, currency) VALUES ($1, $2, 'XOF')";
      await pool.query(sql, [reference, amount]);
      await paylink.createPaymentLink({ amount, reference, single_use: true });
      if (isPaid) await emulator.pay(reference);
      return reference;
    },
    async creditedOrders(): Promise<string[]> {
      const { rows } = await pool.query<{ reference: string }>(
        'SELECT reference FROM orders WHERE paid_at IS NOT NULL ORDER BY reference',
      );
      return rows.map(({ reference }) => reference);
    },
  };
}

export type Shop = Awaited<ReturnType<typeof openShop>>;
