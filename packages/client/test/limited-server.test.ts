import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { memoryStore } from '@paylink/core';
import { afterEach, describe, expect, it } from 'vitest';
import { createClient, reconcile, type ReconcileReport } from '../src/index.js';
import { startLimitedServer, type LimitedServer } from './limited-server.js';

const API_KEY = 'sk_live_limits.the-secret-part-of-it';
const CONCURRENCY = 4;

const orders = (count: number): string[] => Array.from({ length: count }, (_, index) => `order-${index}`);

let server: LimitedServer | undefined;
afterEach(() => server?.close());

describe('a service that limits reads', () => {
  it('is asked for 500 references as fast as it allows, and not while it pauses (N10)', async () => {
    server = await startLimitedServer(50, 1_000, () => 'success');
    const started = performance.now();
    const report = await reconcile({
      client: createClient({ baseUrl: server.baseUrl, apiKey: API_KEY }),
      references: orders(500),
      idempotency: memoryStore(),
      onSuccess: () => undefined,
      concurrency: CONCURRENCY,
    });
    expect([report.credited.length, report.errors, report.notAsked, report.cursor]).toEqual([500, [], [], undefined]);
    expect(server.answered).toHaveLength(500);
    // In each window only those that were under way when the first was refused.
    expect(Math.max(...server.refused)).toBeLessThanOrEqual(CONCURRENCY);
    expect(performance.now() - started).toBeGreaterThan(9_000);
  }, 60_000);

  it('is asked for the paid orders behind 450 that stay unpaid, by cron jobs that store the cursor (N10)', async () => {
    const all = orders(500);
    const isPaid = (reference: string): boolean => all.indexOf(reference) >= 450;
    const service = await startLimitedServer(50, 25_000, (reference) => (isPaid(reference) ? 'success' : 'pending'));
    server = service;
    const credits: string[] = [];
    let cursor: string | undefined = '0:order-0';
    let runs = 0;
    for (; credits.length < 50 && runs < 12; runs++) {
      service.nextWindow();
      const job = fork(fileURLToPath(new URL('./cron.ts', import.meta.url)), {
        execArgv: ['--conditions=@paylink/source', '--import', 'tsx'],
      });
      await once(job, 'message');
      const unpaid = all.filter((reference) => !credits.includes(reference));
      job.send({ baseUrl: service.baseUrl, unpaid, cursor, deadline: 10_000 });
      const [report] = (await once(job, 'message')) as [ReconcileReport];
      expect(report.total).toBe(unpaid.length);
      expect(report.notAsked).toHaveLength(unpaid.length - 50);
      credits.push(...report.credited);
      cursor = report.cursor;
    }
    expect([credits.length, new Set(credits).size, runs]).toEqual([50, 50, 10]);
    expect(new Set(service.answered).size).toBe(500);
    expect(Math.max(...service.refused)).toBeLessThanOrEqual(CONCURRENCY);
  }, 120_000);
});
