import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres, type PostgresServer } from '../../test/servers/postgres.js';
import { isRight, runKills } from './kills.js';

let folder: string;
let server: PostgresServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'paylink-kills-'));
  server = await startPostgres({ fsync: 'off' });
}, 60_000);
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

// `pnpm lab kills --long` kills more.
describe('P05 I03 I04 kill -9 at each step of a delivery, beside pages and other deliveries', () => {
  it('loses nothing and doubles nothing on PostgreSQL', async () => {
    const report = await runKills({ engine: 'postgres', place: server.url, kills: 28, seed: 1 });
    expect(isRight(report), JSON.stringify(report)).toBe(true);
  }, 120_000);

  it('loses nothing and doubles nothing on SQLite', async () => {
    const place = join(folder, 'shop.db');
    const report = await runKills({ engine: 'sqlite', place, kills: 24, seed: 1 });
    expect(isRight(report), JSON.stringify(report)).toBe(true);
  }, 120_000);

  it('shows that a credit without a condition doubles', async () => {
    const place = join(folder, 'unconditional.db');
    const plan = { engine: 'sqlite', place, kills: 24, seed: 2, design: 'unconditional' } as const;
    expect((await runKills(plan)).doubled).toBeGreaterThan(0);
  }, 120_000);
});
