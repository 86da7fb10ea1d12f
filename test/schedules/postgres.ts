/** A PostgreSQL for the modules of this folder. */
import { afterAll } from 'vitest';
import { openPostgres } from './engines.js';
import { explore, removeBundle, shopAt, type Outcome } from './explore.js';

const postgres = await openPostgres();
export const { url } = postgres;
afterAll(async () => {
  await removeBundle();
  await postgres.close();
});

export const exploreOnPostgres = (design: string, only?: 'orders' | 'cuts'): Promise<Outcome> =>
  explore(design, { module: shopAt('sql'), databaseUrl: url, only });
