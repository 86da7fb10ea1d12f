/** Runs commands on a merchant's module beside an emulator. */
import { dirname, join } from 'node:path';
import { startEmulator, type Emulator, type EmulatorOptions } from '@paylink/emulator';
import { onTestFinished } from 'vitest';
import { COMMAND } from '../paylink.js';
import type { Row, Shop } from './payments.js';

export const MODULE = join(dirname(COMMAND), 'payments.mjs');

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
