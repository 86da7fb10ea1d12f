import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createClient } from '@paylink/client';
import { startEmulator, type Emulator } from '@paylink/emulator';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { install, installPackage } from '../../../test/runtimes/install.js';
import { nodes } from '../../../test/runtimes/versions.js';
import { bundleWorker } from './cloudflare-bundle.js';
import { startShop } from './shop.js';

// Not in a lockfile, because Miniflare is heavy and needs Node 22.
const node22 = await install(nodes.find(({ version }) => version.startsWith('22.'))!);
const miniflare = await installPackage({ package: 'miniflare', version: '4.20260730.0' });

let folder: string;
let shop: Awaited<ReturnType<typeof startShop>>;
let emulator: Emulator;
let child: ChildProcess;
let url: string;

beforeAll(async () => {
  if ('missing' in node22) throw new Error(node22.missing);
  folder = await mkdtemp(join(tmpdir(), 'paylink-worker-'));
  await bundleWorker(join(folder, 'worker.mjs'));
  shop = await startShop();
  emulator = await startEmulator();
  const bindings = {
    WEBHOOK_SECRET: TEST_SECRET,
    PAYLINK_BASE_URL: emulator.baseUrl,
    PAYLINK_API_KEY: emulator.apiKey,
  };
  child = spawn(
    node22.executable,
    [
      fileURLToPath(new URL('./cloudflare-server.mjs', import.meta.url)),
      join(miniflare, 'dist', 'src', 'index.js'),
      join(folder, 'worker.mjs'),
      JSON.stringify(bindings),
      // Hyperdrive requires a password, which this PostgreSQL does not check on loopback.
      shop.url.replace('postgres@', 'postgres:unused@'),
    ],
    // A killed Miniflare leaves temporary files, which are deleted with the folder.
    {
      cwd: folder,
      env: { ...process.env, TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    },
  );
  [url] = (await once(createInterface(child.stdout!), 'line')) as [string];
}, 120_000);

afterAll(async () => {
  // The group, because Miniflare's runtime is a separate process.
  if (child?.exitCode === null) process.kill(-child.pid!, 'SIGKILL');
  await emulator?.close();
  await shop?.close();
  await rm(folder, { recursive: true, force: true });
});

const send = async (reference: string, secret = TEST_SECRET): Promise<number> =>
  (await signedDelivery({ secret, reference }).send(url)).status;

it('credits once on Cloudflare Queues, however often the delivery comes', async () => {
  const { baseUrl, apiKey } = emulator;
  const client = createClient({ baseUrl, apiKey });
  for (const reference of ['cf-1', 'cf-forged']) {
    await shop.add(reference);
    await client.createPaymentLink({ amount: 5_000, reference });
    await emulator.pay(reference);
  }
  expect(await send('cf-forged', 'a-secret-of-nobody')).toBe(401);
  const five = Array.from({ length: 5 }, () => send('cf-1'));
  expect(new Set(await Promise.all(five))).toEqual(new Set([200]));
  const isPaid = async (): Promise<boolean> =>
    (await shop.payments.verify(['cf-1'])).confirmed.count === 1;
  await vi.waitUntil(isPaid, { timeout: 60_000, interval: 100 });
  expect((await shop.payments.verify(['cf-forged'])).unpaid.count).toBe(1);
}, 90_000);
