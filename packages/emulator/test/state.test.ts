import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { startEmulator, type Emulator, type EmulatorOptions } from '../src/index.js';
import { createLink, FIXED, FREE, postLink, readPayment } from './merchant.js';
import { startReceiver } from './receiver.js';
import { closeAfterwards, start as startOne } from './set-up.js';

// Longer than a busy machine needs, so only a fault runs into it.
vi.setConfig({ testTimeout: 30_000 });

let state: string;

beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'paylink-state-'));
  state = join(folder, 'state');
  closeAfterwards({ close: async () => rmSync(folder, { recursive: true }) });
});

const start = (options: EmulatorOptions = {}): Promise<Emulator> =>
  startOne({ apiKey: 'sk_live_id.secret', state, ...options });

/** Returns the names of the lock files of a state file. */
function locksBeside(path: string): string[] {
  const folder = dirname(path);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((name) => name.startsWith(`${basename(path)}.lock`));
}

describe('the state file', () => {
  it('keeps links, payments, Idempotency-Keys and notifications across a restart', async () => {
    const receiver = closeAfterwards(await startReceiver());
    const options = { webhook: { url: receiver.url, secret: 'a-secret-of-the-test' } };
    const first = await start(options);
    const answer = await postLink(
      first,
      { ...FIXED, single_use: true },
      { 'Idempotency-Key': 'k' },
    );
    const created = (await answer.json()) as { url: string };
    await first.createLink(FREE);
    await first.createLink({ ...FIXED, reference: 'failed' });
    await first.pay('order-1');
    await first.pay('gift-1', { amount: 700 });
    await first.fail('failed');
    const delivered = await first.waitForDelivery({ reference: 'order-1' });
    await first.waitForDelivery({ reference: 'gift-1' });
    await first.close();
    expect(statSync(state).mode & 0o777).toBe(0o600);

    const second = await start(options);
    expect(await readPayment(second, 'order-1')).toMatchObject({
      status: 'success',
      amount: 15_000,
    });
    expect(await readPayment(second, 'gift-1')).toMatchObject({ status: 'success', amount: 700 });
    expect(await readPayment(second, 'failed')).toMatchObject({ status: 'failed' });
    const replay = await postLink(
      second,
      { ...FIXED, single_use: true },
      { 'Idempotency-Key': 'k' },
    );
    const { url, ...same } = (await replay.json()) as typeof created;
    expect([replay.status, { ...same, url: url.replace(second.payUrl, first.payUrl) }]).toEqual([
      201,
      created,
    ]);
    expect(second.deliveries().map(({ reference }) => reference)).toEqual(['order-1', 'gift-1']);
    const { attempts, ...facts } = delivered;
    expect(attempts).toHaveLength(1);
    expect(second.deliveries()[0]).toEqual({ ...facts, attempts: [] });
    await expect(second.pay('order-1')).rejects.toMatchObject({ code: 'transition_not_allowed' });
    expect(receiver.received).toHaveLength(2);
  });

  it('continues unacknowledged notifications with the new URL after a restart', async () => {
    const down = await startReceiver(() => 503);
    const slow = { assumed: { firstRetryDelay: 100_000, longestRetryDelay: 100_000 } };
    const first = await start({ ...slow, webhook: { url: down.url, secret: 'the-secret-before' } });
    await first.createLink({ ...FIXED, reference: 'retried' });
    await first.pay('retried');
    await first.waitForDelivery({ reference: 'retried', status: 503 });
    await first.close();
    await down.close();

    const up = closeAfterwards(await startReceiver());
    const second = await start({ webhook: { url: up.url, secret: 'the-secret-afterwards' } });
    await second.redeliver(second.deliveries()[0]!.id);
    expect(await second.waitForDelivery({ reference: 'retried' })).toMatchObject({
      state: 'delivered',
      attemptCount: 2,
    });
  });

  it('loses no answered change in a kill, and survives its old lock', async () => {
    const receiver = closeAfterwards(await startReceiver());
    const child = spawn(
      process.execPath,
      [
        '--conditions=@paylink/source',
        '--import',
        'tsx',
        fileURLToPath(new URL('state-child.ts', import.meta.url)),
        state,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let said = '';
    for await (const chunk of child.stdout) {
      said += String(chunk);
      if (said.includes('paid 20\n')) break;
    }
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(existsSync(`${state}.lock.${child.pid}`)).toBe(true);
    const emulator = await start({ webhook: { url: receiver.url } });
    for (const [, number] of said.matchAll(/^paid (\d+)$/gm)) {
      expect(await readPayment(emulator, `order-${number}`)).toMatchObject({ status: 'success' });
      await emulator.waitForDelivery({ reference: `order-${number}` });
    }
  }, 30_000);

  it.each<[string, string, RegExp]>([
    ['a line that was cut off', '["link","half of a li', /wrong record in line 4 of/],
    ['a line that is no record', '{"link":1}', /wrong record in line 4 of/],
    ['a link without a request', '["link","t",{"status":"paid"}]', /link "t": the body is not a/],
    [
      'a link with an unknown status',
      '["link","t",{"request":{"amount":1,"reference":"r"},"status":"paid"}]',
      /link "t": status must be pending or success/,
    ],
    [
      'a link that would run a script',
      '["link","t",{"request":{"amount":1,"reference":"r","return_url":"javascript:1"}}]',
      /link "t": return_url must be an http or https URL/,
    ],
    ['a delivery of another form', '["delivery","d",null]', /delivery "d": is not an object/],
    [
      'a delivery without a date',
      '["delivery","d",{"reference":"r","body":"{}","createdAt":"soon"}]',
      /delivery "d": createdAt must be a date/,
    ],
  ])('is refused with %s, and stays as it is', async (_, line, reason) => {
    const webhook = { url: 'http://127.0.0.1:9/' };
    const first = await start({ webhook });
    await first.createLink(FIXED);
    await first.createLink(FREE);
    await first.close();
    appendFileSync(state, `${line}\n`);
    const before = readFileSync(state, 'utf8');
    for (let time = 0; time < 2; time += 1)
      await expect(startEmulator({ state, webhook })).rejects.toThrow(reason);
    expect(readFileSync(state, 'utf8')).toBe(before);
  });

  it('O22 does not write through a symbolic link planted for its temporary file', async () => {
    const target = join(state, '..', 'precious');
    writeFileSync(target, 'my notes\n');
    symlinkSync(target, `${state}.tmp`);
    const emulator = await start();
    await emulator.createLink(FIXED);
    expect(readFileSync(target, 'utf8')).toBe('my notes\n');
    expect([existsSync(`${state}.tmp`), statSync(state).mode & 0o777]).toEqual([false, 0o600]);
  });

  it('moves its links to another port', async () => {
    const first = await start();
    await createLink(first);
    await first.close();
    const second = await start();
    const { url } = await second.createLink({ ...FIXED, reference: 'order-2' });
    const page = await fetch(second.dashboardUrl);
    expect(page.status).toBe(200);
    expect(new URL(url).origin).toBe(second.payUrl);
    const [, line = ''] = readFileSync(state, 'utf8').split('\n');
    const [, token] = JSON.parse(line) as [kind: string, token: string];
    expect((await fetch(`${second.payUrl}/link/${token}`)).status).toBe(200);
  });

  it('forgets records by reset(), linksKept and deliveriesKept', async () => {
    const receiver = closeAfterwards(await startReceiver());
    const options = {
      webhook: { url: receiver.url },
      assumed: { linksKept: 2, deliveriesKept: 1 },
    };
    const first = await start(options);
    for (const reference of ['a', 'b', 'c']) {
      await first.createLink({ ...FIXED, reference });
      await first.pay(reference);
      await first.waitForDelivery({ reference });
    }
    await first.close();
    const second = await start({ ...options, assumed: {} });
    expect(second.deliveries().map(({ reference }) => reference)).toEqual(['c']);
    await expect(second.pay('a')).rejects.toMatchObject({ code: 'payment_not_found' });
    await second.reset();
    await second.close();
    const third = await start(options);
    expect(third.deliveries()).toEqual([]);
    await third.createLink({ ...FIXED, reference: 'c' });
  });

  it.each([
    ['a file with other content', () => writeFileSync(state, 'my notes\n')],
    [
      'a file of another version',
      () => writeFileSync(state, '{"paylink":"emulator state","version":1}\n'),
    ],
    ['a path in a missing folder', () => (state = join(state, 'nothing', 'state'))],
    ['an empty path', () => (state = '')],
  ])('cannot be %s, and no file changes', async (_, prepare) => {
    prepare();
    const before = existsSync(state) ? readFileSync(state, 'utf8') : undefined;
    await expect(startEmulator({ state })).rejects.toMatchObject({
      name: 'ConfigurationError',
      option: 'state',
    });
    expect(existsSync(state) ? readFileSync(state, 'utf8') : undefined).toBe(before);
    expect(locksBeside(state)).toEqual([]);
  });

  it.each(['', `.lock.${process.pid}`])(
    'does not wait for a FIFO with its name and the ending "%s"',
    async (end) => {
      execFileSync('mkfifo', [`${state}${end}`]);
      await expect(startEmulator({ state })).rejects.toMatchObject({ option: 'state' });
      expect(statSync(`${state}${end}`).isFIFO()).toBe(true);
    },
  );

  it('serves one emulator at a time', async () => {
    const first = await start();
    await expect(startEmulator({ state })).rejects.toThrow(
      `in use by another emulator, process ${process.pid}`,
    );
    await first.close();
    await (await start()).close();
    writeFileSync(`${state}.lock.99999999`, '');
    await start();
  });

  it('goes to at most one of two emulators that start at once beside a stale lock', async () => {
    const folder = join(state, '..');
    const count = 40;
    for (let number = 0; number < count; number++)
      writeFileSync(join(folder, `${number}.lock.99999999`), '');
    const script = fileURLToPath(new URL('state-race-child.ts', import.meta.url));
    // Gives both processes time to load.
    const args = [
      '--conditions=@paylink/source',
      '--import',
      'tsx',
      script,
      folder,
      `${count}`,
      `${Date.now() + 3_000}`,
    ];
    const race = promisify(execFile);
    const both = await Promise.all([race(process.execPath, args), race(process.execPath, args)]);
    const held = both.flatMap(({ stdout }) => JSON.parse(stdout) as number[]);
    // Two that start in the same moment may refuse each other, but never both hold the file.
    expect(new Set(held).size).toBe(held.length);
  });

  it('replaces the lock of a killed emulator with the same process id, as in a container', async () => {
    const lock = `${state}.lock.${process.pid}`;
    writeFileSync(lock, '');
    const before = Date.now() / 1_000 - process.uptime() - 1;
    utimesSync(lock, before, before);
    await start();
    await expect(startEmulator({ state })).rejects.toThrow('in use by another emulator');
  });
});

// Only root can mount a separate disk.
describe.skipIf(process.platform !== 'linux' || process.getuid?.() !== 0)(
  'O22 the state file on a full disk',
  () => {
    let disk: string;

    beforeEach(() => {
      disk = join(state, '..', 'disk');
      mkdirSync(disk);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=128k', 'tmpfs', disk]);
      closeAfterwards({ close: async () => void execFileSync('umount', ['-l', disk]) });
      state = join(disk, 'state');
    });

    /** Fills the disk up to `left` bytes. */
    function fill(left: number): void {
      const { bavail, bsize } = statfsSync(disk);
      writeFileSync(join(disk, 'filler'), Buffer.alloc(bavail * bsize - left));
    }

    async function createUntilFull(emulator: Emulator, prefix = 'order'): Promise<string[]> {
      const created: string[] = [];
      for (let number = 1; number <= 1_000; number++) {
        const reference = `${prefix}-${number}`;
        const answer = await postLink(emulator, { ...FIXED, reference });
        if (answer.status !== 201) {
          expect([answer.status, await answer.text()]).toEqual([
            500,
            expect.stringContaining('the state file cannot be written: ENOSPC'),
          ]);
          return created;
        }
        created.push(reference);
      }
      throw new Error('the disk was never full');
    }

    it('keeps acknowledged links, reports the reason for later failures, and opens again', async () => {
      const report = vi.spyOn(console, 'error').mockImplementation(() => undefined);
      const first = await start();
      const created = await createUntilFull(first);
      await expect(first.createLink({ ...FIXED, reference: 'method' })).rejects.toMatchObject({
        code: 'state_not_written',
      });
      await first.close();
      report.mockRestore();
      expect(created.length).toBeGreaterThan(50);

      const second = await start();
      for (const reference of created)
        expect(await readPayment(second, reference)).toMatchObject({ status: 'pending' });
    });

    it('continues as soon as there is space', async () => {
      const report = vi.spyOn(console, 'error').mockImplementation(() => undefined);
      const first = await start();
      await first.createLink(FIXED);
      fill(0);
      const refused = await createUntilFull(first, 'late');
      await expect(first.pay('order-1')).rejects.toMatchObject({ code: 'state_not_written' });
      const cancel = () =>
        fetch(new URL('/control/cancel', first.baseUrl), {
          method: 'POST',
          headers: { Authorization: `Bearer ${first.apiKey}`, 'Content-Type': 'application/json' },
          body: '{"reference":"order-1"}',
        });
      for (let time = 0; time < 2; time += 1) expect((await cancel()).status).toBe(500);
      rmSync(join(disk, 'filler'));
      await first.createLink({ ...FIXED, reference: 'afterwards' });
      await first.close();
      report.mockRestore();
      const second = await start();
      for (const reference of [...refused, 'order-1', 'afterwards']) {
        expect(await readPayment(second, reference)).toMatchObject({ status: 'pending' });
      }
    });

    it('keeps the old file if a new one does not fit', async () => {
      const first = await start();
      for (let number = 1; number <= 100; number++)
        await first.createLink({ ...FIXED, reference: `order-${number}` });
      await first.close();
      const before = readFileSync(state, 'utf8');
      fill(8_192);
      await expect(startEmulator({ state })).rejects.toThrow('state cannot be written: ENOSPC');
      expect(readFileSync(state, 'utf8')).toBe(before);
      rmSync(join(disk, 'filler'));
      const second = await start();
      for (let number = 1; number <= 100; number++) {
        expect(await readPayment(second, `order-${number}`)).toMatchObject({ status: 'pending' });
      }
    });
  },
);
