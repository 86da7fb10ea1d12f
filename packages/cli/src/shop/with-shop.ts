/** Runs a command with the merchant's module, and ends even if the module holds connections. */
import { Option } from 'commander';
import type { Payments } from '@paylink/payments';
import type { CommonFlags } from '../terminal/command.js';
import { API_KEY_VARIABLE, namesNotLoaded, SECRET_VARIABLE } from '../terminal/dotenv.js';
import { EXIT, messageOf, usageFailure } from '../terminal/failure.js';
import { collect } from '../terminal/input.js';
import type { Output } from '../terminal/output.js';
import { text } from '../terminal/safe-text.js';
import { untilStopped } from '../terminal/until-stopped.js';
import { loadShop, type ShopModule } from './module.js';

export interface ShopFlags extends CommonFlags {
  readonly module: string;
  readonly tenant?: readonly string[];
}

export const TENANT_OPTION = new Option(
  '--tenant <id>',
  'a merchant, or null (can be repeated)',
).argParser(collect);

export const SHOP_OPTIONS = [
  new Option(
    '--module <file>',
    'your module, which exports payments and optionally close()',
  ).makeOptionMandatory(),
  TENANT_OPTION,
];

/** A merchant, `null` if --tenant names the only one so, and `undefined` without --tenant. */
export type Tenant = string | null | undefined;

export function tenantsOf({ tenant }: ShopFlags): readonly Tenant[] {
  if (tenant?.includes('') === true) throw usageFailure('--tenant must not be empty');
  const named = [...new Set(tenant)].map((each) => (each === 'null' ? null : each));
  return tenant === undefined ? [undefined] : named;
}

/** @throws Failure if the module exports no payments */
export function requirePayments(
  { payments }: ShopModule,
  { module }: ShopFlags,
  command: 'reconcile' | 'verify' | 'explain',
): Payments {
  if (typeof payments?.[command] === 'function') return payments;
  throw usageFailure(
    `--module: ${module} does not export payments from createPayments()`,
    'export const payments = createPayments({ client, orders })',
  );
}

/** Loads the module, works, and calls its `close`. Ctrl-C and SIGTERM abort `stop`. */
export async function withShop(
  flags: ShopFlags,
  output: Output,
  work: (shop: ShopModule, stop: AbortSignal) => Promise<number>,
): Promise<number> {
  output.hide(process.env[API_KEY_VARIABLE], process.env[SECRET_VARIABLE]);
  const stop = new AbortController();
  const stopped = untilStopped().then(() => stop.abort());
  let shop: ShopModule | undefined;
  let code: number | undefined;
  try {
    shop = await Promise.race([loadShop(flags.module), stopped.then(() => undefined)]);
    code = shop === undefined ? EXIT.interrupted : await work(shop, stop.signal);
    return code;
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    return EXIT.interrupted;
  } finally {
    const names = code === EXIT.ok ? [] : namesNotLoaded();
    if (names.length > 0)
      output.note(text`not loaded from .env: ${names.join(', ')} (add --dotenv .env)`);
    await close(shop, output);
    exitSoon();
  }
}

/** Milliseconds for the module's `close`. */
const CLOSING = 5_000;

async function close(shop: ShopModule | undefined, output: Output): Promise<void> {
  // Keeps the process alive: one that ends by itself has no exit code yet.
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((_, reject) => {
    timer = setTimeout(reject, CLOSING, new Error('it took more than 5 s'));
  });
  try {
    await Promise.race([shop?.close?.(), late]);
  } catch (error) {
    output.error(`the module's close() failed: ${messageOf(error)}`);
  } finally {
    clearTimeout(timer);
  }
}

/** Exits although the merchant's pool or timers would keep the process alive. */
export function exitSoon(): void {
  setImmediate(() => {
    process.stdout.write('', () => process.stderr.write('', () => process.exit()));
  });
}
