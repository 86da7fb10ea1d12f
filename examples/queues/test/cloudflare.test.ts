import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createClient } from '@paylink/client';
import { startEmulator, type Emulator } from '@paylink/emulator';
import { postgresStore } from '@paylink/postgres';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startPostgres, type PostgresServer } from '../../../test/servers/postgres.js';
import { install, installPackage } from '../../../test/runtimes/install.js';
import { nodes } from '../../../test/runtimes/versions.js';
import { createOrders } from '../src/orders.js';
import { bundleWorker } from './cloudflare-bundle.js';
import { AMOUNT } from './paid.js';

const PATIENCE = { timeout: 60_000, interval: 50 };

// Not in a lockfile, because Miniflare is heavy and needs Node 22.
const node22 = await install(nodes.find(({ version }) => version.startsWith('22.'))!);
const miniflare = await installPackage({ package: 'miniflare', version: '4.20260730.0' });

let folder: string;
let postgres: PostgresServer;
let pool: Pool;
let emulator: Emulator;
let worker: Awaited<ReturnType<typeof startWorker>>;

async function startWorker() {
  if ('missing' in node22) throw new Error(node22.missing);
  const bindings = {
    WEBHOOK_SECRET: TEST_SECRET,
    PAYLINK_BASE_URL: emulator.baseUrl,
    PAYLINK_API_KEY: emulator.apiKey,
  };
  const child = spawn(
    node22.executable,
    [
      fileURLToPath(new URL('./cloudflare-server.mjs', import.meta.url)),
      join(miniflare, 'dist', 'src', 'index.js'),
      join(folder, 'worker.mjs'),
      JSON.stringify(bindings),
      // Hyperdrive requires a password, which this PostgreSQL does not check on loopback.
      postgres.url.replace('postgres@', 'postgres:unused@'),
    ],
    // A killed Miniflare leaves temporary files, which are deleted with the folder.
    {
      cwd: folder,
      env: { ...process.env, TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    },
  );
  let complaints = '';
  child.stderr.on('data', (text: Buffer) => (complaints += text.toString()));
  const [url] = (await Promise.race([
    once(createInterface(child.stdout), 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error(complaints))),
  ])) as [string];
  return {
    url,
    async kill(): Promise<void> {
      if (child.exitCode !== null || child.signalCode !== null) return;
      // The group, because Miniflare's runtime is a separate process.
      process.kill(-child.pid!, 'SIGKILL');
      await once(child, 'exit');
    },
  };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'paylink-worker-'));
  await bundleWorker(join(folder, 'worker.mjs'));
  postgres = await startPostgres({ fsync: 'off', client_connection_check_interval: '100ms' });
  pool = new Pool({ connectionString: postgres.url });
  pool.on('error', () => undefined);
  await postgresStore(pool).migrate();
  await createOrders(pool);
  await pool.query('CREATE TABLE interruptions AS SELECT false AS done');
  emulator = await startEmulator();
  worker = await startWorker();
}, 120_000);

afterAll(async () => {
  await worker.kill();
  await emulator.close();
  await pool.end();
  await postgres.close();
  await rm(folder, { recursive: true });
});

/** Creates an order with a paid link. */
async function paidOrder(reference: string): Promise<void> {
  await pool.query('INSERT INTO orders (reference, amount) VALUES ($1, $2)', [reference, AMOUNT]);
  const client = createClient({ baseUrl: emulator.baseUrl, apiKey: emulator.apiKey });
  await client.createPaymentLink({ amount: AMOUNT, reference, single_use: true });
  await emulator.pay(reference);
}

async function send(reference: string, { path = '', secret = TEST_SECRET } = {}): Promise<number> {
  return (await signedDelivery({ secret, reference }).send(worker.url + path)).status;
}

async function creditsOf(reference: string): Promise<number> {
  const { rows } = await pool.query<{ credits: number }>(
    'SELECT credits FROM orders WHERE reference = $1',
    [reference],
  );
  return rows[0]!.credits;
}

const credited = (reference: string) =>
  vi.waitUntil(async () => (await creditsOf(reference)) > 0, PATIENCE);

/** Returns the connections of the Workers' runs that have credited, but not committed. */
const atWork = (runs: number) =>
  vi.waitUntil(async () => {
    const sql =
      "SELECT pid FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' AND pid <> pg_backend_pid() AND state = 'active'";
    const { rows } = await pool.query<{ pid: number }>(sql);
    return rows.length === runs && rows.map(({ pid }) => pid);
  }, PATIENCE);

describe('the example on Cloudflare Queues', () => {
  it('credits once a notification that comes often, of which each message is delivered three times, and a forged one never', async () => {
    await paidOrder('cf-1');
    await paidOrder('cf-forged');
    expect(await Promise.all(Array.from({ length: 5 }, () => send('cf-1')))).toEqual(
      Array(5).fill(200),
    );
    expect(await send('cf-forged', { secret: 'a-secret-of-nobody' })).toBe(401);
    await vi.waitUntil(
      async () => (await (await fetch(`${worker.url}acknowledged`)).json()) === 5,
      PATIENCE,
    );
    expect([await creditsOf('cf-1'), await creditsOf('cf-forged')]).toEqual([1, 0]);
  }, 90_000);

  it('answers no 2xx where the queue is down, or says nothing', async () => {
    await paidOrder('cf-2');
    expect(await send('cf-2', { path: 'down' })).toBe(503);
    expect(await send('cf-2', { path: 'mute' })).toBe(503);
    expect(await creditsOf('cf-2')).toBe(0);
  }, 30_000);

  it('credits once where the connection ends between the credit and the commit', async () => {
    await pool.query('UPDATE interruptions SET done = false');
    await paidOrder('cf-interrupted-1');
    await send('cf-interrupted-1');
    const [pid] = await atWork(1);
    await pool.query('UPDATE interruptions SET done = true');
    await pool.query('SELECT pg_terminate_backend($1)', [pid]);
    await credited('cf-interrupted-1');
    expect(await send('cf-interrupted-1')).toBe(200);
    expect(await creditsOf('cf-interrupted-1')).toBe(1);
  }, 90_000);

  it('credits once, after a kill -9, what is in the queue, and loses what was given to waitUntil', async () => {
    await pool.query('UPDATE interruptions SET done = false');
    await paidOrder('cf-interrupted-2');
    await paidOrder('cf-interrupted-3');
    expect(await send('cf-interrupted-2')).toBe(200);
    expect(await send('cf-interrupted-3', { path: 'wait-until' })).toBe(200);
    await atWork(2);
    await worker.kill();
    await pool.query('UPDATE interruptions SET done = true');
    worker = await startWorker();
    // Cloudflare's queue would deliver again. Miniflare's queue was in the killed process, so the
    // test delivers.
    expect(await send('cf-interrupted-2')).toBe(200);
    await credited('cf-interrupted-2');
    expect([await creditsOf('cf-interrupted-2'), await creditsOf('cf-interrupted-3')]).toEqual([
      1, 0,
    ]);
  }, 120_000);
});
