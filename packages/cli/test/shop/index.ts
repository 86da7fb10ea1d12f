/** Bundles the merchant's module once, and runs commands on it beside an emulator. */
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { startEmulator, type Emulator, type EmulatorOptions } from '@paylink/emulator';
import { build } from 'esbuild';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { Row, Shop } from './payments.js';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
export const MODULE = at(`../../.cache/payments-${process.pid}.mjs`);

beforeAll(async () => {
  await build({
    entryPoints: [at('payments.ts')],
    outfile: MODULE,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@paylink/source', 'module'],
  });
});
afterAll(() => rm(MODULE, { force: true }));

/** Starts a service, which adds the path of each request to `paths`. */
export async function openEmulator(
  assumed: EmulatorOptions['assumed'] = {},
  paths: string[] = [],
): Promise<Emulator> {
  const onRequest = ({ path }: { readonly path: string }): void => void paths.push(path);
  const emulator = await startEmulator({ assumed, onRequest });
  onTestFinished(() => emulator.close());
  return emulator;
}

export const order = (row: Partial<Row> = {}): Row => ({
  reference: 'order-42',
  amount: 15_000,
  currency: 'XOF',
  paid: false,
  ...row,
});

export const environmentOf = (
  { baseUrl, apiKey }: Pick<Emulator, 'baseUrl' | 'apiKey'>,
  shop: Shop,
): Record<string, string> => ({
  PAYLINK_BASE_URL: baseUrl,
  PAYLINK_API_KEY: apiKey,
  SHOP: JSON.stringify(shop),
});
