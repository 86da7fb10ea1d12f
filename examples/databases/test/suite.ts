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
