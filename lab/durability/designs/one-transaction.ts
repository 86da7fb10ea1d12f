import { postgresStore } from '@paylink/postgres';
import type { Pool } from 'pg';
import { creditByRecipe } from '../credit-order.js';
import type { Design } from './design.js';

/** `postgresStore`: the mark and the credit commit together. */
export const oneTransaction: Design = {
  loses: false,
  doubles: false,
  store: ({ pool }) => postgresStore(pool),
};

/** The documented recipe, which also checks the order. */
export const oneTransactionByRecipe: Design = { ...oneTransaction, credit: creditByRecipe };

/** Creates the marks table, as a merchant does once. */
export async function migrate(pool: Pool): Promise<void> {
  await postgresStore(pool).migrate();
}
