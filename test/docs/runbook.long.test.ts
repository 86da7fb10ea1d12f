/** Nights on call: each breaks the shop, follows docs/runbook.md, and ends with right books. */
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import { paymentWebhook } from '@paylink/express';
import type { Payments } from '@paylink/payments';
import express, { type RequestHandler } from 'express';
import Database from 'libsql';
import { expect, it, onTestFinished, vi } from 'vitest';
import { blockOf, runBlock, serve } from './blocks.js';
import { run } from './shell.js';
import { buildModule, openShop } from './shop.js';

const SECRET = 'the secret that the portal shows now';
const OLD_SECRET = 'the secret that it showed until today';
const AN_HOUR = 3_600_000;

/** A release whose `credit` changes no row. */
const inCents = (orders: string): string =>
  orders.replace('credit.run(reference, amount,', 'credit.run(reference, amount * 100,');

const blocked: RequestListener = (_req, res) =>
  void res
    .writeHead(403, { 'content-type': 'text/html', server: 'cloudflare' })
    .end('<!doctype html><title>Attention Required!</title>');

/** A shop with customers, whose webhook a night can break. */
async function openNight() {
  let answer: RequestListener = blocked;
  const url = await serve((req, res) => answer(req, res));
  const shop = await openShop({
    webhook: { url, secret: SECRET },
    // A refused notification does not return during the night.
    assumed: { firstRetryDelay: AN_HOUR, longestRetryDelay: AN_HOUR },
  });
  const { folder, emulator, env } = shop;
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const log = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  onTestFinished(() => void vi.restoreAllMocks());

  return {
    ...shop,
    log: () => log.mock.calls.join('\n'),
    /** Runs the page's line with this command of `paylink`. */
    async command(name: string) {
      const lines = (await blockOf('docs/runbook.md', `paylink ${name} `)).split('\n');
      return run(
        lines.find((line) => line.includes(`paylink ${name} `))!,
        url,
        folder,
        env,
      );
    },
    listen: (listener: RequestListener): void => void (answer = listener),
    webhook: (handler: RequestHandler): RequestListener =>
      express().post('/webhooks/payments', handler) as RequestListener,
    /** The server's payments, from the module as it is now. */
    async payments(): Promise<Payments> {
      const url = `${pathToFileURL(join(folder, 'payments.js')).href}?at=${Math.random()}`;
      return ((await import(url)) as { payments: Payments }).payments;
    },
    /** Waits until the shop has answered an order's notification with a status. */
    answered: (reference: string, status: number) =>
      emulator.waitForDelivery({ reference, status, timeout: 20_000 }),
  };
}

const NOTHING_WRONG = /nothing wrong was found/;
/** The causes that only `doctor` can tell apart, and the command that credits. */
const NOT_NOTIFIED =
  /would be credited[^]*never received the notification[^]*paylink doctor --to[^]*paylink reconcile --module/;

it('after a rotation with 401, doctor names the secret, both secrets work, and reconcile credits', async () => {
  const night = await openNight();
  const payments = await night.payments();
  night.listen(night.webhook(paymentWebhook({ secret: OLD_SECRET }, payments.receive)));
  for (const reference of ['order-42', 'order-2']) {
    await night.order(reference);
    await night.answered(reference, 401);
  }
  expect((await night.command('explain')).output).toMatch(NOT_NOTIFIED);
  expect((await night.command('doctor')).output).toMatch(/FAILED +secret /);

  const { webhook } = (await runBlock(await blockOf('docs/going-live.md', 'WEBHOOK_SECRET_OLD'), {
    env: { WEBHOOK_SECRET: SECRET, WEBHOOK_SECRET_OLD: OLD_SECRET },
    declared: { payments },
  })) as { webhook: RequestHandler };
  night.listen(night.webhook(webhook));
  expect((await night.command('doctor')).output).toMatch(NOTHING_WRONG);
  await night.order('order-3');
  await night.answered('order-3', 200);
  expect((await night.command('reconcile')).output).toMatch(/ done: .*credited 2/);
  expect(night.creditedOrders()).toEqual(['order-2', 'order-3', 'order-42']);
});

it('after a release that breaks credit, explain says who must act, and reconcile credits after the fix', async () => {
  const night = await openNight();
  await buildModule(night.folder, inCents);
  const options = { secret: SECRET };
  night.listen(night.webhook(paymentWebhook(options, (await night.payments()).receive)));
  await night.order('order-42');
  await night.answered('order-42', 503);
  expect(night.log()).toMatch(/503 not_credited: .*order-42/);
  const explained = await night.command('explain');
  expect(explained.output).toMatch(/order-42[^]*`credit` throws or changes no row/);
  expect(explained.output).toContain('reconcile --module ./payments.js');
  expect((await night.command('reconcile')).code).toBe(1);
  expect(night.creditedOrders()).toEqual([]);

  await buildModule(night.folder);
  expect((await night.command('reconcile')).output).toMatch(/ done: .*credited 1/);
  expect(night.creditedOrders()).toEqual(['order-42']);
});

it('after hours behind a firewall, doctor names the firewall, and reconcile credits', async () => {
  const night = await openNight();
  for (const reference of ['order-42', 'order-2', 'order-3']) {
    await night.order(reference);
    await night.answered(reference, 403);
  }
  expect((await night.command('explain')).output).toMatch(NOT_NOTIFIED);
  const { code, output } = await night.command('doctor');
  expect([code, output]).toEqual([1, expect.stringMatching(/403, text\/html, server: cloudflare/)]);
  const options = { secret: SECRET };
  night.listen(night.webhook(paymentWebhook(options, (await night.payments()).receive)));
  expect((await night.command('doctor')).output).toMatch(NOTHING_WRONG);
  expect((await night.command('reconcile')).output).toMatch(/ done: .*credited 3/);
  expect(night.creditedOrders()).toEqual(['order-2', 'order-3', 'order-42']);
});

it('after a restored backup, reconcile credits the paid orders again, once each', async () => {
  const night = await openNight();
  const options = { secret: SECRET };
  night.listen(night.webhook(paymentWebhook(options, (await night.payments()).receive)));
  await night.order('order-42');
  await night.answered('order-42', 200);
  // The backup is from before the credit.
  night.db.exec('UPDATE orders SET paid_at = NULL');
  expect((await night.command('explain')).output).toMatch(NOT_NOTIFIED);
  expect((await night.command('payments get')).output).toMatch(/order-42\n[^]*success/);
  expect((await night.command('reconcile')).output).toMatch(/ done: .*credited 1/);
  expect((await night.command('reconcile')).output).toMatch(/ done: read 0 orders/);
  expect(night.creditedOrders()).toEqual(['order-42']);
});

const page = (containing: string) => blockOf('docs/runbook.md', containing);

it('the SQL of the page finds the start of an outage, and a second credit', async () => {
  const db = new PGlite();
  onTestFinished(() => db.close());
  await db.exec(`CREATE TABLE orders (reference text, created_at timestamptz, paid_at timestamptz);
    CREATE TABLE outbox (reference text);
    INSERT INTO orders SELECT n, now() - interval '1 hour' * n, CASE WHEN n > 3 THEN now() END
      FROM generate_series(1, 6) n;
    INSERT INTO outbox VALUES ('order-41'), ('order-42'), ('order-42');`);
  const hours = await db.query<{ credited: number }>(await page('date_trunc'));
  expect(hours.rows.map(({ credited }) => credited)).toEqual([1, 1, 1, 0, 0, 0]);
  const doubled = await db.query<{ reference: string }>(await page('HAVING'));
  expect(doubled.rows.map(({ reference }) => reference)).toEqual(['order-42']);
});

it('the SQL for SQLite finds the same outage, and ends a refunded case', async () => {
  const db = new Database(':memory:');
  onTestFinished(() => void db.close());
  db.exec('CREATE TABLE orders (reference TEXT, created_at TEXT, paid_at TEXT, refunded_at TEXT)');
  const insert = db.prepare("INSERT INTO orders VALUES (?, datetime('now', ?), ?, NULL)");
  for (const n of [1, 2, 3, 4, 5, 6])
    insert.run(`order-4${n}`, `-${n} hours`, n > 3 ? 'yesterday' : null);
  const hours = db.prepare(await page('strftime')).all() as { credited: number }[];
  expect(hours.map(({ credited }) => credited)).toEqual([1, 1, 1, 0, 0, 0]);
  db.exec(await page('SET refunded_at'));
  const refunded = 'SELECT reference FROM orders WHERE refunded_at IS NOT NULL';
  expect(db.prepare(refunded).all()).toMatchObject([{ reference: 'order-42' }]);
});
