/** Loads the merchant's module: the payments, and the other exports that the checks need. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Orders, Payments } from '@paylink/payments';
import type { TestOrdersOptions } from '@paylink/testing';
import { isConfigurationError, messageOf, usageFailure } from '../terminal/failure.js';
import { NPX, NPX_DENO } from '../terminal/shell.js';

export interface ShopModule {
  readonly payments?: Payments;
  readonly orders?: Orders;
  readonly createOrder?: TestOrdersOptions['createOrder'];
  /** Ends the pool, so that the server sees the connections close. */
  readonly close?: () => unknown;
}

/** @throws Failure if the module cannot be loaded */
export async function loadShop(path: string): Promise<ShopModule> {
  const loaded = await load(path);
  // A CommonJS module may have its exports in `default` alone.
  return { ...Object(loaded['default']), ...loaded } as ShopModule;
}

async function load(path: string): Promise<Readonly<Record<string, unknown>>> {
  const file = resolve(path);
  if (!existsSync(file)) throw usageFailure(`--module: the file ${path} does not exist`);
  // Deno loads TypeScript itself.
  const isTypeScript = /\.[cm]?tsx?$/.test(file) && !('Deno' in globalThis);
  const lacksTsx = isTypeScript && !(await registerTsx());
  try {
    return (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw usageFailure(
      `--module: ${path} cannot be loaded: ` +
        `${isConfigurationError(error) ? 'a setting is wrong: ' : ''}${messageOf(error)}`,
      isOfDeno(error)
        ? `a Deno module needs Deno: run ${NPX_DENO} instead of ${NPX}`
        : lacksTsx
          ? 'TypeScript needs tsx in this folder: npm install --save-dev tsx'
          : undefined,
    );
  }
}

/** Returns true for an import such as `npm:@paylink/client`, and for a use of `Deno.env`. */
function isOfDeno(error: unknown): boolean {
  const { code } = Object(error) as NodeJS.ErrnoException;
  const isScheme = code === 'ERR_UNSUPPORTED_ESM_URL_SCHEME';
  return isScheme || /^(?:Deno is not defined$|Cannot find module 'npm:)/.test(messageOf(error));
}

/**
 * Registers tsx, and returns whether this folder has it. Only newer versions of Node strip types,
 * and Node never resolves `./a.js` to `./a.ts`.
 */
async function registerTsx(): Promise<boolean> {
  try {
    const path = createRequire(join(process.cwd(), 'package.json')).resolve('tsx');
    await import(pathToFileURL(path).href);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    return false;
  }
}
