/** A PostgreSQL for the modules of this folder. */
import { afterAll } from 'vitest';
import { Client } from 'pg';
import { startPostgres } from '../servers/postgres.js';
import { TABLES } from './designs.js';
import { explore, removeBundle, shopAt, type Outcome } from './explore.js';

const server = await startPostgres({ fsync: 'off' });
export const { url } = server;
const client = new Client({ connectionString: url });
await client.connect();
await client.query(TABLES.postgres);
afterAll(async () => {
  await removeBundle();
  await client.end();
  await server.close();
});

export const exploreOnPostgres = (design: string, only?: 'orders' | 'cuts'): Promise<Outcome> =>
  explore(design, { module: shopAt('postgres'), databaseUrl: url, only });
