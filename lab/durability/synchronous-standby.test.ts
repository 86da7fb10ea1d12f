/** A commit that waits for a synchronous standby. Others see it only after the standby has it. */
import { postgresStore } from '@paylink/postgres';
import { Pool } from 'pg';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startPostgres } from '../../test/servers/postgres.js';

vi.setConfig({ testTimeout: 60_000 });

const PATIENCE = { timeout: 20_000 };

/** A server that waits for a missing standby, except in sessions of `admin`. */
async function startWithoutStandby() {
  const server = await startPostgres();
  onTestFinished(() => server.close());
  const admin = new Pool({ connectionString: server.url, options: '-c synchronous_commit=local' });
  const pool = new Pool({ connectionString: server.url, query_timeout: 3_000 });
  for (const each of [admin, pool]) each.on('error', () => undefined);
  onTestFinished(async () => {
    await Promise.all([admin.end(), pool.end()]);
  });
  await postgresStore(admin).migrate();
  await admin.query('CREATE TABLE credits (reference text)');
  const waitFor = async (standbys: string): Promise<void> => {
    await admin.query(`ALTER SYSTEM SET synchronous_standby_names = '${standbys}'`);
    await admin.query('SELECT pg_reload_conf()');
    await expect
      .poll(async () => (await admin.query<object>('SHOW synchronous_standby_names')).rows)
      .toEqual([{ synchronous_standby_names: standbys }]);
  };
  await waitFor('standby');
  // Another server process applies the setting a moment after it shows, so this waits until a
  // commit blocks.
  const commits = (): Promise<boolean> =>
    pool.query('INSERT INTO credits VALUES (NULL)').then(
      () => true,
      () => false,
    );
  while (await commits());
  return { admin, pool, standbyIsGivenUp: () => waitFor('') };
}

it('is in progress for others until the standby has it, also after its own sender has given up', async () => {
  const { admin, pool, standbyIsGivenUp } = await startWithoutStandby();
  const store = postgresStore(pool);
  const credit = vi.fn(async (tx: { query(sql: string): Promise<unknown> }) => {
    await tx.query("INSERT INTO credits VALUES ('order-1')");
  });
  const options = { signal: new AbortController().signal, turn: 'order-1' };
  await expect(store.run('order-1', credit, options)).rejects.toThrow('Query read timeout');
  expect(credit).toHaveBeenCalledOnce();
  // The client closes the connection, while the server keeps waiting.
  await expect.poll(() => pool.totalCount, PATIENCE).toBe(0);
  expect(await store.isDone('order-1')).toBe(false);
  expect(await store.run('order-1', credit, options)).toBe('in_progress');

  await standbyIsGivenUp();
  await expect.poll(() => store.isDone('order-1'), PATIENCE).toBe(true);
  expect(await store.run('order-1', credit, options)).toBe('duplicate');
  expect(credit).toHaveBeenCalledOnce();
  expect((await admin.query('SELECT * FROM credits WHERE reference IS NOT NULL')).rows).toEqual([
    { reference: 'order-1' },
  ]);
});
