/** Runs a command on the merchant's module, and ends although the module holds connections. */
import type { Command } from 'commander';
import type { Payments } from '@paylink/payments';
import type { CommonFlags } from '../terminal/action.js';
import { INTERRUPTED, messageOf, usageFailure } from '../terminal/failure.js';
import { collect } from '../terminal/input.js';
import type { Output } from '../terminal/output.js';
import { untilStopped } from '../terminal/until-stopped.js';
import { API_KEY_VARIABLE, loadWholeDotenv, SECRET_VARIABLES } from '../terminal/dotenv.js';
import { loadShop, type ShopModule } from './module.js';

export interface ShopFlags extends CommonFlags {
  readonly module?: string;
  readonly tenant?: readonly string[];
}

export const MODULE_OPTION = [
  '--module <file>',
  'your module: it exports payments, and may export close()',
] as const;

export function addShopOptions(command: Command): Command {
  return command
    .option(...MODULE_OPTION)
    .option('--tenant <tenant>', "the orders' merchant (can be repeated)", collect);
}

/** The tenants to work for. One `undefined` if there is one merchant. */
export function tenantsOf({ tenant }: ShopFlags): readonly (string | undefined)[] {
  if (tenant?.includes('') === true) throw usageFailure('--tenant must not be empty');
  return tenant === undefined ? [undefined] : [...new Set(tenant)];
}

export interface Shop extends ShopModule {
  readonly payments: Payments;
}

/** The path of --module. @throws Failure without one */
export function requireModule({ module }: ShopFlags): string {
  if (module === undefined) throw usageFailure('no --module', 'for example --module ./payments.js');
  return module;
}

/**
 * Loads the module, works, and calls its `close`. Ctrl-C and SIGTERM abort `stop`.
 *
 * @param stoppedCode the exit code if a signal ends the command before `work` begins
 */
export async function withShop(
  flags: ShopFlags,
  output: Output,
  work: (shop: Shop, stop: AbortSignal) => Promise<number>,
  stoppedCode = INTERRUPTED,
): Promise<number> {
  return withModule(flags, output, stoppedCode, (shop, stop) => {
    const { payments } = shop;
    if (payments === undefined) {
      throw usageFailure(
        `--module: ${flags.module!} does not export payments`,
        'export const payments = createPayments({ client, orders })',
      );
    }
    return work({ ...shop, payments }, stop);
  });
}

export async function withModule(
  flags: ShopFlags,
  output: Output,
  stoppedCode: number,
  work: (shop: ShopModule, stop: AbortSignal) => Promise<number>,
): Promise<number> {
  const path = requireModule(flags);
  if (flags.dotenv !== undefined) await loadWholeDotenv(flags.dotenv);
  for (const name of [API_KEY_VARIABLE, ...SECRET_VARIABLES]) output.hide(process.env[name]);
  const stop = new AbortController();
  const stopped = untilStopped().then(() => stop.abort());
  let shop: ShopModule | undefined;
  try {
    shop = await Promise.race([loadShop(path), stopped.then(() => undefined)]);
    return shop === undefined ? stoppedCode : await work(shop, stop.signal);
  } finally {
    await close(shop, output);
    exitSoon();
  }
}

/** Milliseconds for the module's `close`. */
const CLOSING = 5_000;

async function close(shop: ShopModule | undefined, output: Output): Promise<void> {
  const late = new Promise<void>((_, reject) => {
    setTimeout(reject, CLOSING, new Error('it took more than 5 s')).unref();
  });
  try {
    await Promise.race([shop?.close?.(), late]);
  } catch (error) {
    output.error(`close() of the module failed: ${messageOf(error)}`);
  }
}

/** Exits although the merchant's pool or timers would keep the process alive. */
function exitSoon(): void {
  setImmediate(() => {
    process.stdout.write('', () => process.stderr.write('', () => process.exit()));
  });
}
