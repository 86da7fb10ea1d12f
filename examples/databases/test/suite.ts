import type { Orders } from '@paylink/payments';
import { testOrders, type TestOrdersOptions } from '@paylink/testing';
import { afterAll, describe, test } from 'vitest';

/** A recipe of this folder. */
export interface Recipe {
  readonly orders: Orders;
  readonly close: () => unknown;
}

export type RecipeOptions = Omit<TestOrdersOptions, 'orders' | 'test'>;

/** Runs `testOrders` on a recipe, and closes the recipe. */
export function testRecipe(name: string, { orders, close }: Recipe, options: RecipeOptions): void {
  afterAll(async () => {
    await close();
  });
  describe(name, () => testOrders({ orders, test, ...options }));
}

/** The checks that only the driver and the column of the reference decide. */
const OF_THE_COLUMN =
  /reference is the same|reference that ends in|reference with a further prefix or suffix/;

/**
 * Runs `testOrders` on a recipe that shares the driver and the table of another one, without the
 * checks whose result they decide. The other recipe runs these checks, and closes the driver.
 */
export function testVariant(name: string, orders: Orders, options: RecipeOptions): void {
  const register = (title: string, run: Parameters<TestOrdersOptions['test']>[1]): unknown =>
    OF_THE_COLUMN.test(title) ? undefined : test(title, run);
  const withoutColumn = Object.assign(register, { skip: test.skip });
  describe(name, () => testOrders({ orders, test: withoutColumn, ...options }));
}
