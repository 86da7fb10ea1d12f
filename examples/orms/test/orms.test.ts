import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import type { PaymentClient } from '@paylink/payments';
import type { Express } from 'express';
import { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startPostgres, type PostgresServer } from '../../../test/servers/postgres.js';
import type { Payment } from '../src/due.js';

type Client = PaymentClient<Payment>;
type CreateApp = (secret: string | undefined, pool: Pool, client: Client) => Promise<Express>;

/**
 * Stands for the service: every payment succeeded with 5,000 XOF, unless the reference says more.
 */
const paid: Client = {
  getPayment: async (reference) => ({
    reference,
    status: 'success',
    amount: reference.endsWith(' of 500') ? 500 : 5_000,
    currency: reference.endsWith(' in USD') ? 'USD' : 'XOF',
  }),
};

let postgres: PostgresServer;
let admin: Pool;
beforeAll(async () => {
  await import('../generate.mjs');
  postgres = await startPostgres({ fsync: 'off' });
  admin = new Pool({ connectionString: postgres.url });
  await admin.query(
    `CREATE TABLE orders (reference text PRIMARY KEY, amount int NOT NULL, currency text NOT NULL DEFAULT 'XOF',
     credited int NOT NULL DEFAULT 0, paid_at timestamptz)`,
  );
}, 120_000);
afterAll(async () => {
  await admin.end();
  await postgres.close();
});

const apps: Record<string, () => Promise<CreateApp>> = {
  Drizzle: async () => (await import('../src/drizzle.js')).createApp,
  Kysely: async () => (await import('../src/kysely.js')).createApp,
  // Only when its client is generated.
  Prisma: async () => (await import('../src/prisma.js')).createApp,
};

describe.each(Object.keys(apps))('the credit through %s', (name) => {
  let pool: Pool;
  let server: Server;
  let url: string;
  let reference: string;

  beforeEach(async () => {
    vi.spyOn(console, 'error').mockReturnValue(undefined);
    pool = new Pool({ connectionString: postgres.url, max: 5 });
    server = (await (await apps[name]!())(TEST_SECRET, pool, paid)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/payments`;
    reference = `${name}-${Math.random()}`;
    await admin.query('INSERT INTO orders (reference, amount) VALUES ($1, 5000)', [reference]);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await admin.query(
      'DROP TRIGGER IF EXISTS obstacle ON orders; ALTER TABLE orders DROP CONSTRAINT IF EXISTS obstacle',
    );
    server.close();
    server.closeAllConnections();
    await pool.end();
  });

  const deliver = async (to = reference): Promise<number> =>
    (await signedDelivery({ secret: TEST_SECRET, reference: to }).send(url)).status;
  const credited = async (): Promise<number> =>
    (
      await admin.query<{ credited: number }>('SELECT credited FROM orders WHERE reference = $1', [
        reference,
      ])
    ).rows[0]!.credited;
  const marksOf = async (order: string): Promise<number | null> =>
    (
      await admin.query('SELECT 1 FROM paylink_marks WHERE key = sha256($1)', [
        Buffer.from(`payment.succeeded:${order}`),
      ])
    ).rowCount;
  const marks = (): Promise<number | null> => marksOf(reference);

  it('credits once, however often and at once a delivery comes', async () => {
    const statuses = await Promise.all(Array.from({ length: 20 }, () => deliver()));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await deliver()).toBe(200);
    expect([await credited(), await marks()]).toEqual([5000, 1]);
  });

  it('leaves neither credit nor mark when the handler throws, and credits when it no longer does', async () => {
    await admin.query('ALTER TABLE orders ADD CONSTRAINT obstacle CHECK (credited = 0) NOT VALID');
    expect(await deliver()).toBe(500);
    expect([await credited(), await marks()]).toEqual([0, 0]);
    await admin.query('ALTER TABLE orders DROP CONSTRAINT obstacle');
    expect(await deliver()).toBe(200);
    expect([await credited(), await marks()]).toEqual([5000, 1]);
  });

  it('refuses an unknown order, another amount and another currency without a mark, and leaves an order alone that was paid by hand', async () => {
    expect(await deliver(`${reference}, unknown`)).toBe(503);
    for (const stale of [`${reference} of 500`, `${reference} in USD`]) {
      await admin.query('INSERT INTO orders (reference, amount) VALUES ($1, 5000)', [stale]);
      expect(await deliver(stale)).toBe(409);
      const { rows } = await admin.query(
        'SELECT credited, paid_at FROM orders WHERE reference = $1',
        [stale],
      );
      expect(rows).toEqual([{ credited: 0, paid_at: null }]);
      expect(await marksOf(stale)).toBe(0);
    }
    expect(await marksOf(`${reference}, unknown`)).toBe(0);
    await admin.query('UPDATE orders SET paid_at = now() WHERE reference = $1', [reference]);
    expect(await deliver()).toBe(200);
    expect([await credited(), await marks()]).toEqual([0, 1]);
  });

  it('leaves neither credit nor mark when the commit fails', async () => {
    await admin.query(`
      CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'at the commit'; END $$;
      CREATE CONSTRAINT TRIGGER obstacle AFTER UPDATE ON orders DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail()`);
    expect(await deliver()).toBe(503);
    expect([await credited(), await marks()]).toEqual([0, 0]);
    await admin.query('DROP TRIGGER obstacle ON orders');
    expect(await deliver()).toBe(200);
    expect([await credited(), await marks()]).toEqual([5000, 1]);
  });

  it('runs again what the server has rolled back for another transaction (40001)', async () => {
    await admin.query(`
      DROP SEQUENCE IF EXISTS tries;
      CREATE SEQUENCE tries;
      CREATE OR REPLACE FUNCTION conflict() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('tries') < 3 THEN RAISE EXCEPTION USING ERRCODE = '40001'; END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER obstacle BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION conflict()`);
    expect(await deliver()).toBe(200);
    expect([await credited(), await marks()]).toEqual([5000, 1]);
  });
});
