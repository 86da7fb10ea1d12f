/** Checks each block of docs/schedule.md with the tool that reads it, and runs it. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Router, type VercelConfig } from '@vercel/config/v1';
import type { Queue, Worker } from 'bullmq';
import { CronFileParser } from 'cron-parser';
import { CronJob } from 'kubernetes-models/batch/v1/CronJob';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { parse } from 'yaml';
import { newFolder } from '../../packages/cli/test/paylink.js';
import { startRedis, withoutRedis } from '../servers/redis.js';
import { blockOf, runBlock } from './blocks.js';
import { run, start } from './shell.js';
import { openShop, type Shop } from './shop.js';

const page = (containing: string): Promise<string> => blockOf('docs/schedule.md', containing);
const NOWHERE = 'http://localhost/';

function withoutSystemd(): boolean {
  if (spawnSync('systemd-analyze', ['--version']).status === 0) return false;
  if (process.env['CI'])
    throw new Error(
      'there is no systemd-analyze on the PATH, and under CI no test may be left out',
    );
  console.warn('SKIPPED: the unit of docs/schedule.md, because there is no systemd-analyze');
  return true;
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
    const { folder, creditedOrders } = await openLossyShop();
    const file = join(newFolder(), 'crontab');
    writeFileSync(file, await page('MAILTO='));
    const { variables, expressions, errors } = CronFileParser.parseFileSync(file);
    expect([errors, Object.keys(variables)]).toEqual([{}, ['PATH', 'MAILTO']]);
    expect(expressions.map((each) => each.stringify())).toEqual(['*/5 * * * *']);
    const line = readFileSync(file, 'utf8').trim().split('\n').at(-1)!;
    const command = line.replace('*/5 * * * * ', '').replace('/srv/shop', folder);
    expect(await run(command, NOWHERE, folder)).toEqual({ code: 0, output: '' });
    expect(readFileSync(join(folder, 'reconcile.log'), 'utf8')).toMatch(/ done: .*credited 1/);
    expect(creditedOrders()).toEqual(['order-paid']);
  });

  it.skipIf(withoutSystemd())(
    'runs by systemd with a valid unit whose command exits at SIGTERM',
    async () => {
      const { folder, env, creditedOrders } = await openLossyShop();
      const there = (text: string): string =>
        text.replaceAll('/srv/shop', folder).replaceAll('/var/lib/shop', folder);
      const unit = there(await page('[Service]'));
      const [, command] = /^ExecStart=(.*)$/m.exec(unit)!;
      const started = start(command!.replace(/^\S+/, 'paylink'), NOWHERE, folder, env);
      await started.until(/ done: .*credited 1.*\n/);

      const file = join(newFolder(), 'shop-reconcile.service');
      // systemd checks that the command exists.
      writeFileSync(file, unit.replace(/^ExecStart=\S+/m, `ExecStart=${join(folder, 'paylink')}`));
      const verified = spawnSync('systemd-analyze', ['verify', '--man=no', file], {
        encoding: 'utf8',
      });
      expect([verified.status, verified.stderr]).toEqual([0, '']);

      const alert = there(await page('.lastDone)')).trim();
      expect((await run(alert, NOWHERE, folder)).code).toBe(0);
      const health = join(folder, 'health.json');
      const report = JSON.parse(readFileSync(health, 'utf8')) as object;
      expect(report).toMatchObject({ result: 'done' });
      for (const lastDone of [null, new Date(Date.now() - 16 * 60_000).toISOString()]) {
        writeFileSync(health, JSON.stringify({ ...report, lastDone }));
        expect((await run(alert, NOWHERE, folder)).code).toBe(1);
      }

      started.end();
      expect(await started.closed).toBe(0);
      expect(creditedOrders()).toEqual(['order-paid']);
    },
  );

  it('runs by Kubernetes with a valid CronJob whose container credits', async () => {
    const { folder, env, creditedOrders } = await openLossyShop();
    const job = parse(await page('kind: CronJob')) as ConstructorParameters<typeof CronJob>[0] &
      object;
    new CronJob(job).validate();
    const broken = structuredClone(job) as { spec: { concurrencyPolicy: number } };
    broken.spec.concurrencyPolicy = 7;
    expect(() => new CronJob(broken as never).validate()).toThrow();
    const pod = job.spec.jobTemplate.spec!.template.spec!;
    const [{ command, args, volumeMounts }] = pod.containers as [(typeof pod.containers)[number]];
    expect(volumeMounts!.map(({ name }) => name)).toEqual(pod.volumes!.map(({ name }) => name));
    expect(command).toEqual(['node_modules/.bin/paylink']);
    const line = ['paylink', ...args!].join(' ').replace('/state', folder);
    expect((await run(line, NOWHERE, folder, env)).code).toBe(0);
    expect(creditedOrders()).toEqual(['order-paid']);
    expect(existsSync(join(folder, 'cursor.json'))).toBe(true);
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
