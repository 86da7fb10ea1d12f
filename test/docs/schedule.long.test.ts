/** Checks each block of docs/schedule.md with the tool that reads it, and runs it. */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Router, type VercelConfig } from '@vercel/config/v1';
import type { Queue, Worker } from 'bullmq';
import { CronFileParser } from 'cron-parser';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { parse } from 'yaml';
import { newFolder } from '../../packages/cli/test/paylink.js';
import { startRedis, withoutRedis } from '../servers/redis.js';
import { blockOf, runBlock } from './blocks.js';
import { run } from './shell.js';
import { openShop, type Shop } from './shop.js';

const page = (containing: string): Promise<string> => blockOf('docs/schedule.md', containing);
const NOWHERE = 'http://localhost/';

/** Stands for the dead man's switch. */
async function openSwitch() {
  let calls = 0;
  const server = createServer((_, response) => {
    calls++;
    response.end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/check`, calls: () => calls };
}

/** A shop with two orders, one paid, and no notification. */
async function openLossyShop(): Promise<Shop> {
  const shop = await openShop();
  await shop.order('order-paid');
  await shop.order('order-unpaid', { isPaid: false });
  return shop;
}

/** The modules that the blocks import. */
const filesOf = async ({ folder }: Shop) => ({
  'payments.js': readFileSync(join(folder, 'payments.js'), 'utf8'),
  'reconcile.ts': await page('// reconcile.ts'),
});

/** Runs a line in the shop's folder, which credits and then calls the switch, or fails. */
async function expectCredit(shop: Shop, line: string, env: Record<string, string>): Promise<void> {
  const deadMans = await openSwitch();
  const command = line
    .replace('/srv/shop', shop.folder)
    .replace('https://hc-ping.com/your-check', deadMans.url)
    .replace('node_modules/.bin/paylink', 'paylink');
  expect(await run(command, NOWHERE, shop.folder, env)).toMatchObject({ code: 0 });
  expect(shop.creditedOrders()).toEqual(['order-paid']);
  expect(deadMans.calls()).toBe(1);
  const failing = command.replace('./payments.js', './missing.js');
  expect((await run(failing, NOWHERE, shop.folder, env)).code).not.toBe(0);
  expect(deadMans.calls()).toBe(1);
}

describe('docs/schedule.md', () => {
  it('runs once with its command, and names the credit', async () => {
    const { folder, env, creditedOrders } = await openLossyShop();
    const command = (
      await page('npx --no-install paylink reconcile --module ./payments.js\n')
    ).trim();
    const { code, output } = await run(command, NOWHERE, folder, env);
    expect(output).toMatch(/ done: read 2 orders in .*credited 1/);
    expect([code, creditedOrders()]).toEqual([0, ['order-paid']]);
  });

  it('runs by cron with a valid crontab whose command credits', async () => {
    const shop = await openLossyShop();
    const line = (await page('*/5 * * * * sh')).trim();
    const file = join(newFolder(), 'crontab');
    writeFileSync(file, `${line}\n`);
    const { expressions, errors } = CronFileParser.parseFileSync(file);
    expect(errors).toEqual({});
    expect(expressions.map((each) => each.stringify())).toEqual(['*/5 * * * *']);
    expect(line).toContain('/srv/shop/reconcile.sh');
    await expectCredit(shop, await page('# reconcile.sh'), {});
    expect(readFileSync(join(shop.folder, 'reconcile.log'), 'utf8')).toMatch(/ done: .*credited 1/);
  });

  it('runs by systemd with the script of cron', async () => {
    expect(await page('systemd-run')).toMatch(/ sh \/srv\/shop\/reconcile\.sh$/m);
  });

  it('runs by Kubernetes with a command that credits', async () => {
    const shop = await openLossyShop();
    const [, command] = / sh -c '([^']*)'$/.exec((await page('kubectl create cronjob')).trim())!;
    await expectCredit(shop, command!, shop.env);
  });

  it('runs by Docker Compose with a loop that credits and goes on', async () => {
    const shop = await openLossyShop();
    const { services } = parse(await page('sleep 300')) as {
      services: { reconcile: { command: readonly string[] } };
    };
    const [shell, flag, loop] = services.reconcile.command;
    expect([shell, flag]).toEqual(['sh', '-c']);
    const once = /^while true; do\n(.*)\n *sleep 300\ndone\n$/s.exec(loop!)![1]!;
    await expectCredit(shop, once, shop.env);
  });

  it('runs by Vercel with valid cron jobs and a route that only Vercel can call', async () => {
    const shop = await openLossyShop();
    const { crons } = JSON.parse(await page('"crons"')) as VercelConfig;
    const router = new Router();
    for (const { path, schedule } of crons!) router.cron(path, schedule);
    expect(crons).toHaveLength(1);

    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    onTestFinished(() => log.mockRestore());
    const env = { ...shop.env, CRON_SECRET: 'the-secret-of-the-cron' };
    // The Next.js quick start's route is three folders below its modules.
    const route = (await page('CRON_SECRET'))
      .replaceAll('../../../', './')
      .replace('./payments.ts', './payments.js');
    const { GET } = (await runBlock(route, { env, files: await filesOf(shop) })) as {
      GET(request: Request): Promise<Response>;
    };
    const call = (authorization?: string): Promise<Response> =>
      GET(new Request(NOWHERE, authorization === undefined ? {} : { headers: { authorization } }));
    expect((await call()).status).toBe(401);
    expect((await call('Bearer undefined')).status).toBe(401);
    expect(shop.creditedOrders()).toEqual([]);
    expect((await call('Bearer the-secret-of-the-cron')).status).toBe(200);
    expect(log.mock.calls.join()).toMatch(/"credited":\{"count":1,"references":\["order-paid"\]/);
    vi.stubEnv('CRON_SECRET', undefined);
    expect((await call('Bearer undefined')).status).toBe(401);
    expect(shop.creditedOrders()).toEqual(['order-paid']);
  });

  it('continues in your own code where the last run ended', async () => {
    const { reconcile } = (await runBlock(await page('// reconcile.ts'))) as {
      reconcile(payments: unknown, timeLimit: number): Promise<void>;
    };
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    onTestFinished(() => log.mockRestore());
    const report = { cursor: '2:order-c', errors: { count: 0 }, notAsked: { count: 1 } };
    const sweep = vi.fn(async (_: undefined, options: { cursor?: string }) => {
      expect(options).toMatchObject({ timeLimit: 1_000, tenant: null });
      return report;
    });
    const expectLeft = () =>
      expect(reconcile({ reconcile: sweep }, 1_000)).rejects.toThrow('1 orders');
    await expectLeft();
    await expectLeft();
    expect(sweep.mock.calls.map(([, { cursor }]) => cursor)).toEqual([undefined, '2:order-c']);
  });

  it.skipIf(withoutRedis())('runs by BullMQ with one schedule after many starts', async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.close());
    const shop = await openLossyShop();
    const code = (await page('upsertJobScheduler')).replaceAll('6379', String(redis.port));
    const { queue, worker } = (await runBlock(
      `${code}\nawait queue.upsertJobScheduler('reconcile', { every: 300_000 });`,
      { env: shop.env, files: await filesOf(shop) },
    )) as { queue: Queue; worker: Worker };
    onTestFinished(async () => {
      await worker.close();
      await queue.close();
    });
    await vi.waitFor(() => expect(shop.creditedOrders()).toEqual(['order-paid']), 20_000);
    expect(await queue.getJobSchedulers()).toMatchObject([{ key: 'reconcile', every: 300_000 }]);
    expect(await queue.getGlobalConcurrency()).toBe(1);
  });
});
