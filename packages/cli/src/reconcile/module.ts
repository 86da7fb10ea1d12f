/** Loads the merchant's module: the payments and the unpaid orders. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Payments } from '@paylink/payments';
import { messageOf } from '../database.js';
import { isConfigurationError, usageFailure } from '../failure.js';

type References = Parameters<Payments['reconcile']>[0];

export interface ShopModule {
  readonly payments: Pick<Payments, 'reconcile'>;
  /** With `--tenant`, returns the orders of that merchant. */
  readonly unpaidReferences: (tenant?: string) => References | Promise<References>;
  /** Ends the pool, so that the server sees the connections close. */
  readonly close?: () => unknown;
}

/** @throws Failure if the module cannot be loaded or lacks a required export */
export async function loadShop(path: string): Promise<ShopModule> {
  const file = resolve(path);
  if (!existsSync(file)) throw usageFailure(`--module: the file ${path} does not exist`);
  const isTypeScript = /\.[cm]?tsx?$/.test(file);
  if (isTypeScript) await registerTsx();
  let shop: Partial<ShopModule> & { readonly default?: Partial<ShopModule> };
  try {
    shop = (await import(pathToFileURL(file).href)) as typeof shop;
  } catch (error) {
    const fix = isTypeScript
      ? 'TypeScript needs tsx in this folder: npm install --save-dev tsx'
      : undefined;
    const reason = isConfigurationError(error) ? 'a setting is wrong: ' : '';
    throw usageFailure(`--module: ${path} cannot be loaded: ${reason}${messageOf(error)}`, fix);
  }
  // A CommonJS module may have its exports in `default` alone.
  const { payments, unpaidReferences, close } = { ...shop.default, ...shop };
  if (typeof payments?.reconcile !== 'function') {
    throw usageFailure(
      `--module: ${path} does not export payments`,
      'export const payments = createPayments({ client, store, credit })',
    );
  }
  if (typeof unpaidReferences !== 'function') {
    throw usageFailure(
      `--module: ${path} does not export unpaidReferences()`,
      'export a function that returns the references of your unpaid orders, oldest first',
    );
  }
  return { payments, unpaidReferences, ...(typeof close === 'function' && { close }) };
}

/**
 * Registers tsx. Only newer versions of Node strip types, and Node never resolves `./a.js` to
 * `./a.ts`.
 */
async function registerTsx(): Promise<void> {
  try {
    const path = createRequire(join(process.cwd(), 'package.json')).resolve('tsx');
    await import(pathToFileURL(path).href);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
  }
}
