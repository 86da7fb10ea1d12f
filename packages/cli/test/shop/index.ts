/** Runs commands on a merchant's module beside an emulator. */
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startEmulator, type Emulator, type EmulatorOptions } from '@paylink/emulator';
import { onTestFinished } from 'vitest';
import { COMMAND, newFolder, paylink, type Result, type RunOptions } from '../paylink.js';
import type { Row, Shop } from './payments.js';

/** A service that does not answer. */
export const NOBODY = { baseUrl: 'http://127.0.0.1:9/api', apiKey: 'sk_live_a.bcdefghi' };

/** Writes a merchant's module. Each command needs a new one, because Node loads a module once. */
export function moduleOf(shop: Shop): string {
  const path = join(newFolder(), 'payments.mjs');
  const bundled = pathToFileURL(join(dirname(COMMAND), 'shop.mjs')).href;
  writeFileSync(
    path,
    `import { createShop } from '${bundled}';
export const { payments, orders, createOrder, close } = createShop(${JSON.stringify(shop)});`,
  );
  return path;
}

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

type Service = Pick<Emulator, 'baseUrl' | 'apiKey'>;

export const environmentOf = ({ baseUrl, apiKey }: Service): Record<string, string> => ({
  PAYLINK_BASE_URL: baseUrl,
  PAYLINK_API_KEY: apiKey,
});

/** Runs a command on a shop that asks a service. */
export const paylinkOn = (
  service: Service,
  shop: Shop,
  [command = '', ...args]: readonly string[],
  { env, ...options }: RunOptions = {},
): Promise<Result> =>
  paylink([command, '--module', moduleOf(shop), ...args], {
    env: { ...environmentOf(service), ...env },
    ...options,
  });
