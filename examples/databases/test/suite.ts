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

/** The checks of `find`, of the lists, and of all but a few spellings of a reference. */
const OF_FIND =
  /^find (returns|throws)|^(un)?paid lists|is the same (?!in another case|with %)|ends in (?!a cond)/;

/**
 * Runs `testOrders` on a recipe that replaces the `credit` of another one, without the checks of
 * the parts that both share. The other recipe runs these checks, and closes the driver.
 */
export function testVariant(name: string, orders: Orders, options: RecipeOptions): void {
  const register = (title: string, run: Parameters<TestOrdersOptions['test']>[1]): unknown =>
    OF_FIND.test(title) ? undefined : test(title, run);
  const ofCredit = Object.assign(register, { skip: test.skip });
  describe(name, () => testOrders({ orders, test: ofCredit, ...options }));
}
