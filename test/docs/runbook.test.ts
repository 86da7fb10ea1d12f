/** Nights on call: each breaks the shop, follows docs/runbook.md, and ends with right books. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { createClient } from '@paylink/client';
import { paymentWebhook } from '@paylink/express';
import { createPayments, type CreditResult, type Payments } from '@paylink/payments';
import { postgresStore } from '@paylink/postgres';
import express, { type RequestHandler } from 'express';
import { Client } from 'pg';
import { expect, it } from 'vitest';
import { creditOrder } from '../../examples/shop/src/credit-order.js';
import { blockOf, runBlock, serve } from './blocks.js';
import { run } from './shell.js';
import { buildModule, openShop } from './shop.js';

const SECRET = 'the secret that the portal shows now';
const OLD_SECRET = 'the secret that it showed until today';
const AN_HOUR = 3_600_000;

const page = (containing: string): Promise<string> => blockOf('docs/runbook.md', containing);
const sql = async (containing: string): Promise<string> => (await page(containing)).trim();

/** A shop with customers, whose webhook a night can break. */
async function openNight() {
  let answer: RequestListener = (_req, res) => void res.writeHead(503).end();
  const url = await serve((req, res) => answer(req, res));
  const shop = await openShop({
    webhook: { url, secret: SECRET },
    // A refused notification does not return during the night.
    assumed: { firstRetryDelay: AN_HOUR, longestRetryDelay: AN_HOUR },
  });
  const { folder, emulator, pool, env } = shop;
  const dotenv = readFileSync(join(folder, '.env'), 'utf8');
  writeFileSync(join(folder, '.env'), dotenv.replace(env.WEBHOOK_SECRET, SECRET));
  const log: string[] = [];
  const note = (line: unknown): void => void log.push(String(line));
  const command = async (name: string) => {
    const lines = (await page(`npx paylink ${name}`)).split('\n');
    const { code, output } = await run(
      lines.find((line) => line.includes(` ${name} `))!,
      url,
      folder,
    );
    return { code, output };
  };

  return {
    ...shop,
    log,
    command,
    listen: (listener: RequestListener): void => void (answer = listener),
    webhook: (handler: RequestHandler): RequestListener =>
      express().post('/webhooks/payments', handler) as RequestListener,
    /** The server's payments. Default: the recipe. */
    payments: (
      credit: (tx: Tx, payment: Payment) => Promise<CreditResult> = creditOrder,
    ): Payments =>
      createPayments({
        client: createClient({ baseUrl: emulator.baseUrl, apiKey: emulator.apiKey }),
        store: postgresStore(pool),
        credit: (payment, { tx }) => credit(tx, payment),
        logger: { warn: note, error: note },
      }),
    logger: { warn: note, error: note },
    /** Waits until the shop has answered an order's notification with a status. */
    answered: (reference: string, status: number) =>
      emulator.waitForDelivery({ reference, status, timeout: 20_000 }),
    prove: async () => {
      const { code, output } = await run(
        (await page('WHERE paid_at IS NOT NULL')).trim(),
        url,
        folder,
      );
      return { code, output };
    },
    expectRightBooks: async (orders: number): Promise<void> => {
      const { code, output } = await run(
        (await page('WHERE paid_at IS NOT NULL')).trim(),
        url,
        folder,
      );
      expect(output).toMatch(new RegExp(`^ +right +${orders}$`, 'm'));
      expect(code).toBe(0);
    },
    shell: (line: string) => run(line, url, folder),
  };
}

type Tx = Parameters<typeof creditOrder>[0];
type Payment = Parameters<typeof creditOrder>[1];

const NOTHING_WRONG = /nothing wrong was found/;

it('after a rotation with 401, doctor names the secret, both secrets work, and reconcile credits', async () => {
  const night = await openNight();
  const payments = night.payments();
  night.listen(
    night.webhook(paymentWebhook({ secret: OLD_SECRET, logger: night.logger }, payments)),
  );
  for (const reference of ['order-1', 'order-2']) {
    await night.order(reference);
    await night.answered(reference, 401);
  }
  expect((await night.prove()).output).toMatch(/^lost +2$/m);
  expect((await night.command('doctor')).output).toMatch(/FAILED +secret .*compare the secrets/);

  const { webhook } = (await runBlock(await blockOf('docs/going-live.md', 'WEBHOOK_SECRET_OLD'), {
    env: { WEBHOOK_SECRET: SECRET, WEBHOOK_SECRET_OLD: OLD_SECRET },
    declared: { payments },
  })) as { webhook: RequestHandler };
  night.listen(night.webhook(webhook));
  expect((await night.command('doctor')).output).toMatch(NOTHING_WRONG);
  await night.order('order-3');
  await night.answered('order-3', 200);
  expect((await night.command('reconcile')).output).toMatch(/ done: .*credited 2\n$/);
  await night.expectRightBooks(3);
});

it('after 503 not_credited, the log names the cause, and reconcile credits after the fix', async () => {
  const night = await openNight();
  const broken = async (tx: Tx, payment: Payment): Promise<never> => {
    await creditOrder(tx, payment);
    return undefined as never;
  };
  const options = { secret: SECRET, logger: night.logger };
  night.listen(night.webhook(paymentWebhook(options, night.payments(broken))));
  await night.order('order-1');
  await night.answered('order-1', 503);
  expect(night.log.join('\n')).toMatch(/503 not_credited: .*undefined/);
  expect((await night.prove()).output).toMatch(/^lost +1$/m);

  const module = join(night.folder, 'dist', 'payments.js');
  const code = await blockOf('docs/schedule.md', '// payments.ts');
  const wrong =
    'credit: async (payment, { tx }) => void (await creditOrder(tx, payment)) as never,';
  await buildModule(module, code.replace(/credit: .*/, wrong));
  const again = await night.command('reconcile');
  expect(again.output).toMatch(/^error: order-1: not_credited: .*undefined/);
  expect([again.code, await night.creditedOrders()]).toEqual([1, []]);

  await buildModule(module, code);
  expect((await night.command('reconcile')).output).toMatch(/ done: .*credited 1\n$/);
  await night.expectRightBooks(1);
});

it('after three hours behind a firewall, doctor names the firewall, and reconcile credits', async () => {
  const night = await openNight();
  const open = night.webhook(paymentWebhook({ secret: SECRET }, night.payments()));
  const blocked: RequestListener = (_req, res) =>
    void res
      .writeHead(403, { 'content-type': 'text/html', server: 'cloudflare' })
      .end('<!doctype html><title>Attention Required!</title>');
  for (const hoursAgo of [5, 4, 3, 2, 1]) {
    night.listen(hoursAgo > 3 ? open : blocked);
    for (const reference of [`order-${hoursAgo}a`, `order-${hoursAgo}b`]) {
      await night.order(reference);
      await night.answered(reference, hoursAgo > 3 ? 200 : 403);
      await night.pool.query(
        "UPDATE orders SET created_at = now() - interval '1 hour' * $1 WHERE reference = $2",
        [hoursAgo, reference],
      );
    }
  }
  expect((await night.prove()).output).toMatch(/^lost +6$/m);
  const { rows } = await night.pool.query<{ credited: string }>(await sql('date_trunc'));
  expect(rows.map(({ credited }) => credited)).toEqual(['2', '2', '0', '0', '0']);
  const { code, output } = await night.command('doctor');
  expect([code, output]).toEqual([1, expect.stringMatching(/403, text\/html, server: cloudflare/)]);

  night.listen(open);
  expect((await night.command('doctor')).output).toMatch(NOTHING_WRONG);
  expect((await night.command('reconcile')).output).toMatch(/ done: .*credited 6\n$/);
  await night.expectRightBooks(10);
});

it('after a double credit, the ledger shows the credit that Paylink did not write', async () => {
  const night = await openNight();
  await night.pool.query(`CREATE TABLE credits (id serial PRIMARY KEY, reference text NOT NULL,
    amount bigint NOT NULL, created_at timestamptz NOT NULL DEFAULT now(), reversed_at timestamptz)`);
  const INSERT = 'INSERT INTO credits (reference, amount) VALUES ($1, $2)';
  const withLedger = async (tx: Tx, payment: Payment): Promise<CreditResult> => {
    const credited = await creditOrder(tx, payment);
    if (credited === 1) await tx.query(INSERT, [payment.reference, payment.amount]);
    return credited;
  };
  night.listen(night.webhook(paymentWebhook({ secret: SECRET }, night.payments(withLedger))));
  for (const reference of ['order-41', 'order-42']) {
    await night.order(reference);
    await night.answered(reference, 200);
  }
  // A job of the shop that ignores the marks.
  await night.pool.query(INSERT, ['order-42', 15_000]);

  expect((await night.command('payments get')).output).toMatch(/order-42\n[^]*success/);
  const ledger = (await page('reversed_at IS NULL')).trim();
  expect((await night.shell(ledger)).output).toMatch(/^doubled +1\n +order-42 +credited 2 times$/m);
  const { rows } = await night.pool.query<{ id: number; by_paylink: boolean }>(
    await sql('by_paylink'),
  );
  const strangers = rows.filter((row) => !row.by_paylink);
  expect([rows.length, strangers.length]).toEqual([2, 1]);
  const reverse = await sql('SET reversed_at');
  await night.pool.query(reverse.replace('id = 7', `id = ${strangers[0]!.id}`));
  const proven = await night.shell(ledger);
  expect(proven.output).toMatch(/^ +right +2$/m);
  expect(proven.code).toBe(0);
});

it('after a restored backup, the lost orders come back and each is credited once', async () => {
  const night = await openNight();
  const serving = night.webhook(paymentWebhook({ secret: SECRET }, night.payments()));
  night.listen(serving);
  await night.order('order-before');
  await night.answered('order-before', 200);
  await night.order('order-open', { isPaid: false });
  await night.order('order-never', { isPaid: false });
  await replaceDatabase(night.server.url, ['CREATE DATABASE backup TEMPLATE postgres']);

  await night.emulator.pay('order-open');
  await night.answered('order-open', 200);
  await night.order('order-today', { amount: 700 });
  await night.answered('order-today', 200);
  await night.order('order-late', { isPaid: false });
  expect(await night.creditedOrders()).toEqual(['order-before', 'order-open', 'order-today']);
  await replaceDatabase(night.server.url, [
    'DROP DATABASE postgres',
    'ALTER DATABASE backup RENAME TO postgres',
  ]);
  expect(await night.creditedOrders()).toEqual(['order-before']);
  expect((await night.prove()).output).toMatch(/^lost +1\n +order-open /m);

  night.listen(night.webhook(paymentWebhook({ secret: SECRET }, night.payments())));
  expect((await night.command('reconcile')).output).toMatch(/ done: .*credited 1, pending 1\n$/);
  writeFileSync(
    join(night.folder, 'references.txt'),
    'order-before\norder-open\norder-today\norder-late\n',
  );
  await buildModule(join(night.folder, 'insert-missing.js'), await page('// insert-missing.js'));
  const inserted = await night.shell((await page('insert-missing.js <')).trim());
  expect(inserted).toEqual({
    code: 0,
    output: [
      'order-before was there',
      'order-open was there',
      'order-today inserted',
      'order-late inserted\n',
    ].join('\n'),
  });
  expect((await night.command('reconcile')).output).toMatch(/ done: .*credited 1, pending 2\n$/);
  await night.expectRightBooks(5);

  // The customer of an open order pays at last.
  await night.emulator.pay('order-late');
  await night.answered('order-late', 200);
  await night.expectRightBooks(5);
  const { rows } = await night.pool.query('SELECT amount FROM orders WHERE reference = $1', [
    'order-today',
  ]);
  expect(rows).toEqual([{ amount: '700' }]);
});

/** Ends the shop's connections, and runs statements outside its database. */
async function replaceDatabase(url: string, statements: readonly string[]): Promise<void> {
  const beside = new URL(url);
  beside.pathname = '/template1';
  const admin = new Client({ connectionString: beside.href });
  await admin.connect();
  try {
    for (const statement of statements) {
      await admin.query(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = 'postgres'",
      );
      await admin.query(statement);
    }
  } finally {
    await admin.end();
  }
}
