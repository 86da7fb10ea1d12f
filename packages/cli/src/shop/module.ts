/** Loads the merchant's module: the payments, and what the checks need beside them. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Orders, Payments } from '@paylink/payments';
import { isConfigurationError, messageOf, usageFailure } from '../terminal/failure.js';

/** What `createOrder` inserts for `doctor`. */
export interface NewOrder {
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
  readonly tenant: string | null;
}

export interface ShopModule {
  readonly payments?: Payments;
  readonly orders?: Orders;
  readonly createOrder?: (order: NewOrder) => Promise<void>;
  /** Ends the pool, so that the server sees the connections close. */
  readonly close?: () => unknown;
}

const EXPORTS = {
  payments: 'object',
  orders: 'object',
  createOrder: 'function',
  close: 'function',
};

/** @throws Failure if the module cannot be loaded, or if an export has another type */
export async function loadShop(path: string): Promise<ShopModule> {
  const file = resolve(path);
  if (!existsSync(file)) throw usageFailure(`--module: the file ${path} does not exist`);
  const isTypeScript = /\.[cm]?tsx?$/.test(file);
  if (isTypeScript) await registerTsx();
  let loaded: Readonly<Record<string, unknown>>;
  try {
    loaded = (await import(pathToFileURL(file).href)) as typeof loaded;
  } catch (error) {
    throw usageFailure(
      `--module: ${path} cannot be loaded: ` +
        `${isConfigurationError(error) ? 'a setting is wrong: ' : ''}${messageOf(error)}`,
      isTypeScript ? 'TypeScript needs tsx in this folder: npm install --save-dev tsx' : undefined,
    );
  }
  // A CommonJS module may have its exports in `default` alone.
  const all = { ...Object(loaded['default']), ...loaded } as Readonly<Record<string, unknown>>;
  const shop: Record<string, unknown> = {};
  for (const [name, type] of Object.entries(EXPORTS)) {
    const value = all[name];
    if (value === undefined) continue;
    if (typeof value !== type || value === null)
      throw usageFailure(
        `--module: the export ${name} of ${path} must be ${type === 'object' ? 'an' : 'a'} ${type}`,
      );
    shop[name] = value;
  }
  return shop;
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
