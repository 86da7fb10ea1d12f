/** A merchant's shop with the quick start's own files, and its operator's folder. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@paylink/client';
import { startEmulator, type EmulatorOptions } from '@paylink/emulator';
import { TEST_SECRET } from '@paylink/testing';
import { build } from 'esbuild';
import Database from 'libsql';
import { onTestFinished } from 'vitest';
import { startPage } from '../../docs/.vitepress/start-pages.js';
import { newFolder } from '../../packages/cli/test/paylink.js';
import { stepsOf } from './quick-start.js';
import { SOURCE } from '../../scripts/source.mjs';

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** A change of `orders.ts`, such as a fault of a release. */
type Release = (orders: string) => string;

/** Bundles the quick start's `payments.ts` and `orders.ts` into `payments.js` of a folder. */
export async function buildModule(folder: string, release: Release = (code) => code) {
  const sources = join(folder, 'src');
  mkdirSync(sources, { recursive: true });
  for (const step of stepsOf(startPage('en', 'express'))) {
    if (step.kind !== 'file' || !/^(orders|payments)\.ts$/.test(step.path)) continue;
    const text = step.path === 'orders.ts' ? release(step.text) : step.text;
    writeFileSync(join(sources, step.path), text);
  }
  await build({
    entryPoints: [join(sources, 'payments.ts')],
    outfile: join(folder, 'payments.js'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: [SOURCE, 'module'],
    external: ['libsql'],
    nodePaths: [at('test/node_modules')],
    logLevel: 'error',
  });
}

/** Opens a shop without orders until the test ends. */
export async function openShop(emulation: EmulatorOptions = {}) {
  const emulator = await startEmulator(emulation);
  const folder = newFolder();
  const env = {
    DATABASE_FILE: join(folder, 'shop.db'),
    PAYLINK_BASE_URL: emulator.baseUrl,
    PAYLINK_API_KEY: emulator.apiKey,
    WEBHOOK_SECRET: emulation.webhook?.secret ?? TEST_SECRET,
  };
  const settings = Object.entries(env).map(([name, value]) => `${name}='${value}'\n`);
  writeFileSync(join(folder, '.env'), settings.join(''));
  symlinkSync(at('test/node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  await buildModule(folder);
  const db = new Database(env.DATABASE_FILE, { timeout: 5_000 });
  const paylink = createClient({ baseUrl: emulator.baseUrl, apiKey: emulator.apiKey });
  const table = stepsOf(startPage('en', 'express')).map((step) =>
    step.kind === 'file' ? /CREATE TABLE[^`]+/.exec(step.text)?.[0] : undefined,
  );
  db.exec(table.find((sql) => sql !== undefined)!);
  onTestFinished(async () => {
    db.close();
    await emulator.close();
  });

  return {
    db,
    emulator,
    env,
    folder,
    /** Inserts an order, then creates its link. A paid order's notification goes out. */
    async order(reference: string, { isPaid = true, amount = 15_000 } = {}): Promise<string> {
      db.prepare("INSERT INTO orders (reference, amount, currency) VALUES (?, ?, 'XOF')").run(
        reference,
        amount,
      );
      await paylink.createPaymentLink({ amount, reference, single_use: true });
      if (isPaid) await emulator.pay(reference);
      return reference;
    },
    creditedOrders: (): string[] =>
      (
        db
          .prepare('SELECT reference FROM orders WHERE paid_at IS NOT NULL ORDER BY reference')
          .all() as { reference: string }[]
      ).map(({ reference }) => reference),
  };
}

export type Shop = Awaited<ReturnType<typeof openShop>>;
