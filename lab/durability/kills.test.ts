import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startPostgres, type PostgresServer } from '../../test/servers/postgres.js';
import { DURABLE, startRedis, withoutRedis, type RedisServer } from '../../test/servers/redis.js';
import { runDuplicates } from './duplicates.js';
import { runKills, type KillReport } from './kills.js';
import type { DesignName } from './designs/index.js';
import { isFlat, runMillion } from './million.js';

// `pnpm lab kills --long` runs the full length.
const KILLS = 25;
// Enough to see the common designs fail.
const FEW_KILLS = 15;
const SEED = 20_261;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ max_connections: 200 });
}, 60_000);
afterAll(() => server.close());

async function killed(
  design: DesignName,
  kills: number,
  annotate: (message: string) => Promise<unknown>,
  redis?: string,
): Promise<KillReport> {
  const report = await runKills(server, { design, redis, kills, seed: SEED });
  const { acknowledged, cut, lost, doubled, early, seconds } = report;
  await annotate(
    `${design}: ${kills} kills in ${seconds.toFixed(1)} s, ${cut} replies cut, ${acknowledged} acknowledged, ` +
      `${lost} lost, ${doubled} doubled, ${early} early`,
  );
  // Kills that interrupt no run prove nothing.
  expect(cut).toBeGreaterThan(kills);
  expect(acknowledged).toBeGreaterThan(kills);
  return report;
}

describe('two receivers under SIGKILL at random moments', () => {
  it('lose and double no order when the mark and the credit are one transaction', async ({
    annotate,
  }) => {
    const { acknowledged, ...report } = await killed('postgresStore', KILLS, annotate);
    expect(report).toMatchObject({
      credited: acknowledged,
      lost: 0,
      doubled: 0,
      alien: 0,
      early: 0,
    });
  }, 180_000);

  it('lose and double no order with the recipe of the documentation', async ({ annotate }) => {
    const { acknowledged, ...report } = await killed('postgresStore-recipe', FEW_KILLS, annotate);
    expect(report).toMatchObject({
      credited: acknowledged,
      lost: 0,
      doubled: 0,
      alien: 0,
      early: 0,
    });
  }, 180_000);

  it('lose orders, as they must, when the mark is written before the credit', async ({
    annotate,
  }) => {
    const { lost, doubled } = await killed('mark-then-credit', FEW_KILLS, annotate);
    expect(lost).toBeGreaterThan(0);
    expect(doubled).toBe(0);
  }, 180_000);

  it('double orders, as they must, when the mark is written after the credit', async ({
    annotate,
  }) => {
    const { lost, doubled } = await killed('credit-then-mark', FEW_KILLS, annotate);
    expect(lost).toBe(0);
    expect(doubled).toBeGreaterThan(0);
  }, 180_000);
});

describe.skipIf(withoutRedis())('two receivers under SIGKILL, with a lease on Redis', () => {
  let redis: RedisServer;
  beforeEach(async () => {
    redis = await startRedis(DURABLE);
  });
  afterEach(() => redis.close());

  it('double orders, as documented, when the credit relies on the lease alone', async ({
    annotate,
  }) => {
    const { lost, doubled } = await killed('redisStore', FEW_KILLS, annotate, redis.url);
    expect(lost).toBe(0);
    expect(doubled).toBeGreaterThan(0);
  }, 180_000);

  it('lose and double no order when the credit itself marks the order', async ({ annotate }) => {
    const { acknowledged, ...report } = await killed(
      'redisStore-paid-at',
      FEW_KILLS,
      annotate,
      redis.url,
    );
    expect(report).toMatchObject({
      credited: acknowledged,
      lost: 0,
      doubled: 0,
      alien: 0,
      early: 0,
    });
  }, 180_000);
});

describe('two receivers', () => {
  it('credit once when the same notification comes a hundred times at once', async () => {
    const report = await runDuplicates(server, { orders: 30 });
    expect(report).toMatchObject({
      deliveries: 3_000,
      acknowledged: 30,
      credited: 30,
      lost: 0,
      doubled: 0,
      alien: 0,
      early: 0,
      cut: 0,
    });
    expect([...report.replies.keys()].filter((status) => status !== 200 && status !== 503)).toEqual(
      [],
    );
    expect(report.replies.get(200)).toBe(3_000);
  }, 180_000);

  it('credit exactly what was genuine and whole of 5,000 deliveries, once each', async () => {
    const { sent, ...report } = await runMillion(server, { count: 5_000, seed: SEED });
    expect(isFlat(report)).toBe(true);
    expect(report).toMatchObject({
      acknowledged: sent.first,
      credited: sent.first,
      lost: 0,
      doubled: 0,
      alien: 0,
    });
    for (const kind of ['duplicate', 'forged', 'cutOff'] as const)
      expect(sent[kind]).toBeGreaterThan(20);
  }, 180_000);
});
