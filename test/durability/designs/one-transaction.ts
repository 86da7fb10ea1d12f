import { postgresStore } from '@paylink/postgres';
import type { Pool } from 'pg';
import type { Design } from './design.js';

/** `postgresStore`: the mark and the credit commit together. */
export const oneTransaction: Design = {
  loses: false,
  doubles: false,
  store: ({ pool }) => postgresStore(pool),
};

/** Makes the table of the marks, as a merchant does once. */
export async function migrate(pool: Pool): Promise<void> {
  await postgresStore(pool).migrate();
}
