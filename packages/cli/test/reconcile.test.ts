import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Emulator } from '@paylink/emulator';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RunReport } from '../src/sweep/run.js';
import { COMMAND, newFolder, paylink, start, type Result } from './paylink.js';
import { environmentOf, MODULE, openEmulator, order } from './shop/index.js';

const ARGS = ['reconcile', '--module', MODULE];
const NOBODY = { baseUrl: 'http://127.0.0.1:9/api', apiKey: 'sk_live_a.bcdefghi' };

const referencesOf = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `order-${String(n).padStart(3, '0')}`);
const rowsOf = (references: readonly string[]) =>
  references.map((reference) => order({ reference }));

/** Creates links, some of them paid. */
async function pay(emulator: Emulator, references: readonly string[], paid: readonly string[]) {
  for (const reference of references) await emulator.createLink({ amount: 15_000, reference });
  for (const reference of paid) await emulator.pay(reference);
}

/** A service that says success, after the test lets it answer. */
async function openStuckService() {
  const waiting: ServerResponse[] = [];
  const server = createServer((req, res) => {
    res.setHeader('content-type', 'application/json');
    const reference = decodeURIComponent(req.url!.split('/').at(-1)!);
    const payment = { type: 'payment', status: 'success', amount: 15_000, currency: 'XOF' };
    res.on('answer', () => res.end(JSON.stringify({ reference, ...payment })));
    waiting.push(res);
    server.emit('asked');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    service: { baseUrl: `http://127.0.0.1:${port}/api`, apiKey: 'sk_live_a.bcdefghi' },
    asked: () => (waiting.length > 0 ? undefined : once(server, 'asked')),
    answer: () => waiting.forEach((res) => res.emit('answer')),
  };
}

const linesOf = (text: string): string[] => text.split('\n').slice(0, -1);
const recordsOf = ({ stdout }: Pick<Result, 'stdout'>): RunReport[] =>
  linesOf(stdout).map((line) => JSON.parse(line) as RunReport);
const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

describe('paylink reconcile', () => {
  it('credits the paid orders, and prints one line', async () => {
    const emulator = await openEmulator();
    const references = referencesOf(5);
    await pay(emulator, references, references.slice(0, 2));
    const env = { ...environmentOf(emulator, { rows: rowsOf(references) }), CLOSE: 'says so' };
    const result = await paylink(ARGS, { env });
    expect(result).toMatchObject({ code: 0, stderr: 'closed\n' });
    expect(result.stdout).toMatch(
      /^\d{4}-\S+Z done: read 5 orders in \d+\.\d s: credited 2, pending 3\n$/,
    );
  });

  it('lists orders without a payment apart, and exits with 0 (P10)', async () => {
    const emulator = await openEmulator();
    await pay(emulator, ['order-000'], ['order-000']);
    const env = environmentOf(emulator, { rows: rowsOf(referencesOf(12)) });
    const { code, stdout, stderr } = await paylink(ARGS, { env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/ done: read 12 orders in .*: credited 1, no payment 11\n/);
    expect(stdout).toMatch(
      / {2}the service has no payment of: (order-0\d\d, ){9}order-0\d\d and 1 more\n/,
    );
    expect(stderr).toBe('');
  });

  it('warns of a wrong baseUrl if the service knows none of ten orders (P36)', async () => {
    const emulator = await openEmulator();
    const env = environmentOf(emulator, { rows: rowsOf(referencesOf(10)) });
    const { code, stderr } = await paylink(ARGS, { env });
    expect(code).toBe(0);
    expect(stderr).toContain('baseUrl');
  });

  it('names the next command for each kind of error, exits with 1, and credits the others', async () => {
    const emulator = await openEmulator();
    const references = referencesOf(4);
    await pay(emulator, references, references);
    const [first, ...others] = rowsOf(references);
    const rows = [order({ ...first!, amount: 1 }), ...others];
    const cwd = newFolder();
    writeFileSync(join(cwd, '.env'), '');
    const env = environmentOf(emulator, { rows });
    const { code, stdout, stderr } = await paylink([...ARGS, '--dotenv', '.env'], { env, cwd });
    expect(code).toBe(1);
    expect(stdout).toMatch(/ incomplete: read 4 orders in .*: credited 3, errors 1\n$/);
    expect(stderr).toMatch(
      /error: amount_differs: order-000\n {2}npx --no-install paylink explain --module \S+ --dotenv \.env order-000\n/,
    );
    expect(stderr).not.toMatch(/^ +at /m);
  });

  it('exits with 3 after a few questions if the service refuses the key', async () => {
    const paths: string[] = [];
    const emulator = await openEmulator({}, paths);
    const references = referencesOf(50);
    await pay(emulator, references, []);
    const health = join(newFolder(), 'health.json');
    const env = {
      ...environmentOf(emulator, { rows: rowsOf(references) }),
      PAYLINK_API_KEY: 'sk_live_another.abf7158809cf4f3c762e7160f38b4da5',
    };
    const result = await paylink([...ARGS, '--every', '1s', '--health', health], { env });
    expect(result.code).toBe(3);
    expect(result.stderr).toContain('error: the service refused the API key (401)\n');
    expect(paths.length).toBeLessThanOrEqual(8);
    expect(readJson(health)).toMatchObject({ result: 'key_refused', lastDone: null });
  });

  it('keeps a cursor at its time limit, and the next run starts there', async () => {
    const emulator = await openEmulator({ rateLimit: { requests: 20, seconds: 60 } });
    const references = referencesOf(50);
    await pay(emulator, references, []);
    const state = join(newFolder(), 'cursor.json');
    const args = [...ARGS, '--state', state, '--concurrency', '1', '--time-limit', '5s', '--json'];
    const env = environmentOf(emulator, { rows: rowsOf(references) });
    const first = await paylink(args, { env });
    expect(first.code).toBe(1);
    const [{ counts, cursor, result }] = recordsOf(first) as [RunReport];
    expect(result).toBe('incomplete');
    expect(counts['notAsked']).toBeGreaterThan(0);
    expect(readJson(state)).toEqual({ cursors: { '': cursor } });
    const paths: string[] = [];
    const free = await openEmulator({}, paths);
    await pay(free, references, []);
    const second = await paylink(args, { env: environmentOf(free, { rows: rowsOf(references) }) });
    expect(second.code).toBe(0);
    expect(paths.find((path) => path.includes('/payments/'))).toContain(cursor!.split(':')[1]!);
    expect(readJson(state)).toEqual({ cursors: {} });
  });

  it('works for each merchant in turn, and one failing merchant does not stop the others', async () => {
    const emulator = await openEmulator();
    const references = referencesOf(2);
    await pay(emulator, references, references);
    const rows = [
      order({ reference: 'order-000', tenant: 'acme', amount: 1 }),
      order({ reference: 'order-001', tenant: 'globex' }),
    ];
    const env = environmentOf(emulator, { rows, isForMany: true });
    const args = [...ARGS, '--tenant', 'acme', '--tenant', 'globex'];
    const { code, stdout, stderr } = await paylink(args, { env });
    expect(code).toBe(1);
    expect(stdout).toMatch(/ incomplete of acme: read 1 .*\n.* done of globex: .*credited 1\n$/);
    expect(stderr).toMatch(/explain --module \S+ --tenant acme order-000\n/);
    const without = await paylink(ARGS, { env });
    expect(without).toMatchObject({ code: 2, stdout: '' });
    expect(without.stderr).toContain('tenant');
  });

  it('takes null for the only merchant of a client that is a function', async () => {
    const emulator = await openEmulator();
    await pay(emulator, ['order-000', '-1'], ['order-000', '-1']);
    const rows = [order({ reference: 'order-000' }), order({ reference: '-1', amount: 7 })];
    const env = environmentOf(emulator, { rows, isForMany: true });
    const { stdout, stderr } = await paylink([...ARGS, '--tenant', 'null'], { env });
    expect(stdout).toMatch(/ incomplete: read 2 .*credited 1, errors 1\n$/);
    expect(stderr).toMatch(/explain --module \S+ --tenant null -- -1\n/);
  });

  it.runIf(existsSync('/dev/full'))('credits although a full disk takes no output', async () => {
    const emulator = await openEmulator();
    const rows = [
      order({ reference: 'a', tenant: 'acme' }),
      order({ reference: 'b', tenant: 'b' }),
    ];
    await pay(emulator, ['a', 'b'], ['a', 'b']);
    const folder = newFolder();
    const health = join(folder, 'health.json');
    const args = [COMMAND, ...ARGS, '--tenant', 'acme', '--tenant', 'b', '--health', health];
    const env = { ...process.env, ...environmentOf(emulator, { rows, isForMany: true }) };
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, args, { env, cwd: folder, stdio: ['pipe', full, full] });
    const [code] = (await once(child, 'exit')) as unknown[];
    closeSync(full);
    const run = { counts: { credited: 1 } };
    expect(readJson(health)).toMatchObject({ runs: [run, run] });
    expect(code).toBe(1);
  });

  it('reports a list that fails, and goes on at the next time of its schedule', async () => {
    const shop = { rows: rowsOf(['order-000']), lists: 'throw' as const };
    const running = start([...ARGS, '--every', '1s'], environmentOf(NOBODY, shop));
    await running.until(/ failed: [^]* failed: /);
    running.child.kill('SIGTERM');
    const { code, stderr } = await running.result();
    expect(code).toBe(0);
    expect(stderr).toContain('error: the run failed: Error: the connection broke in the middle\n');
  });

  it('ends at SIGTERM although a list hangs', async () => {
    const shop = { rows: [], lists: 'hang' as const };
    const running = start([...ARGS, '--json'], environmentOf(NOBODY, shop));
    await once(running.child, 'spawn');
    await expect.poll(() => locksIn(running.folder), { timeout: 20_000 }).toHaveLength(1);
    running.child.kill('SIGTERM');
    expect((await running.result()).code).toBe(130);
    expect(locksIn(running.folder)).toHaveLength(0);
  });
});

const locksIn = (folder: string): string[] =>
  readdirSync(folder).filter((name) => name.endsWith('.lock'));

describe('the lock of two runs', () => {
  it('skips the second run with 75, and a killed run leaves no lock behind', async () => {
    const { service, asked, answer } = await openStuckService();
    const TMPDIR = newFolder();
    const shop = { rows: rowsOf(['order-000']), patience: 60_000 };
    const env = { ...environmentOf(service, shop), TMPDIR };
    const first = start(ARGS, env);
    await asked();
    const second = await paylink(ARGS, { env });
    expect(second).toMatchObject({ code: 75, stderr: '' });
    expect(second.stdout).toMatch(/Z skipped: another run is at work\n$/);

    first.child.kill('SIGKILL');
    await first.result();
    expect(locksIn(TMPDIR)).toHaveLength(1);
    const third = start(ARGS, env);
    const answering = setInterval(answer, 20);
    onTestFinished(() => clearInterval(answering));
    expect(await third.result()).toMatchObject({ code: 0 });
    expect(locksIn(TMPDIR)).toHaveLength(0);
  });

  it('is taken over from a process without a sign of life, whose number another process has', async () => {
    const emulator = await openEmulator();
    const TMPDIR = newFolder();
    const env = { ...environmentOf(emulator, { rows: [] }), TMPDIR };
    const running = start(ARGS, { ...env, ...environmentOf(NOBODY, { rows: [], lists: 'hang' }) });
    await expect.poll(() => locksIn(TMPDIR), { timeout: 20_000 }).toHaveLength(1);
    const lock = join(TMPDIR, locksIn(TMPDIR)[0]!);
    running.child.kill('SIGKILL');
    await running.result();
    // The process of this test is alive.
    writeFileSync(lock, `${process.pid} of another container\n`);
    expect((await paylink(ARGS, { env })).code).toBe(75);
    utimesSync(lock, new Date(), new Date(Date.now() - 61_000));
    expect((await paylink(ARGS, { env })).code).toBe(0);
  });

  it('names TMPDIR and --no-lock if it cannot be written', async () => {
    const env = { ...environmentOf(NOBODY, { rows: [] }), TMPDIR: '/nowhere' };
    const { code, stderr } = await paylink(ARGS, { env });
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /the lock \/nowhere\/.* cannot be written \(ENOENT\)\n {2}set TMPDIR .*--no-lock/,
    );
    expect((await paylink([...ARGS, '--no-lock'], { env })).code).toBe(0);
  });
});

describe('paylink verify', () => {
  const rows = ['confirmed', 'pending', 'differs', 'missing'].map((reference) =>
    order({ reference, paid: true }),
  );

  it('exits with 0 if the service confirms every paid order', async () => {
    const emulator = await openEmulator();
    await pay(emulator, ['confirmed'], ['confirmed']);
    const env = environmentOf(emulator, { rows: rows.slice(0, 1) });
    const { code, stdout } = await paylink(['verify', '--module', MODULE], { env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/ done: read 1 orders in .*: confirmed 1\n$/);
  });

  it('lists the paid orders that the service does not confirm, exits with 1, and writes nothing', async () => {
    const emulator = await openEmulator();
    await pay(emulator, ['confirmed', 'pending'], ['confirmed']);
    await emulator.createLink({ amount: 500, reference: 'differs' });
    await emulator.pay('differs');
    const env = environmentOf(emulator, { rows, credit: 'throws' });
    const { code, stdout } = await paylink(['verify', '--module', MODULE], { env });
    expect(code).toBe(1);
    expect(stdout).toMatch(/ found: read 4 orders in/);
    expect(stdout).toContain('  paid in your database, and not at the service: pending\n');
    expect(stdout).toContain('  another amount or currency at the service: differs\n');
    expect(stdout).toContain('  the service has no payment of: missing\n');
    expect(stdout).toMatch(/paylink explain --module \S+ pending\n/);
  });
});

describe('--module', () => {
  const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
  const REPORT = `const list = { count: 0, references: [] };
    const report = { total: 0, credited: list, notAsked: list, noPayment: list,
      errors: { count: 0, references: [], details: [] }, keyRefused: false };`;
  const write = (name: string, content: string): string => {
    const path = join(newFolder(), name);
    writeFileSync(path, content);
    return path;
  };

  it.each([
    ['a missing file', ['--module', 'missing.js'], 'the file missing.js does not exist'],
    ['an empty tenant', ['--module', MODULE, '--tenant', ''], '--tenant must not be empty'],
    ['a missing folder', ['--module', MODULE, '--state', 'no/state'], 'no such folder: no'],
  ])('exits with 2 for %s', async (_, args, message) => {
    const result = await paylink(['reconcile', ...args]);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toContain(message);
  });

  it.each([
    ['export const orders = {};', 'does not export payments'],
    ['export const payments = Promise.resolve({});', 'does not export payments of createPayments'],
    ['export const payments = 7;', 'must be of the type object'],
    ["throw new Error('a fault of the module');", 'cannot be loaded: a fault of the module'],
  ])('exits with 2 for a module with %s', async (content, message) => {
    const result = await paylink(['reconcile', '--module', write('a.mjs', content)]);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toContain(message);
    expect(result.stderr).not.toMatch(/^ +at /m);
  });

  it('exits with 2 if orders has no unpaid()', async () => {
    const env = environmentOf(NOBODY, { rows: [], lists: 'none' });
    const { code, stderr } = await paylink([...ARGS, '--every', '1s'], { env });
    expect(code).toBe(2);
    expect(stderr).toContain('unpaid');
  });

  it('can be CommonJS', async () => {
    const module = write(
      'a.cjs',
      `${REPORT} exports.payments = { reconcile: async () => report };`,
    );
    expect((await paylink(['reconcile', '--module', module])).code).toBe(0);
  });

  it('in TypeScript needs tsx in the folder, and may miss a variable of .env', async () => {
    const module = write(
      'a.ts',
      `enum Kind { order } ${REPORT} export const payments = { reconcile: async () => report, Kind };`,
    );
    const cwd = newFolder();
    const without = await paylink(['reconcile', '--module', module], { cwd });
    expect(without.code).toBe(2);
    expect(without.stderr).toContain('npm install --save-dev tsx');
    symlinkSync(at('../../../test/node_modules'), join(cwd, 'node_modules'));
    expect((await paylink(['reconcile', '--module', module], { cwd })).code).toBe(0);
    const failing = ['reconcile', '--module', write('b.ts', 'throw new Error("no database")')];
    expect((await paylink(failing, { cwd })).stderr).not.toContain('tsx');
    writeFileSync(join(cwd, '.env'), 'DATABASE_URL=postgres://shop\n');
    expect((await paylink(failing, { cwd })).stderr).toContain('not loaded: DATABASE_URL of .env');
  });

  it('O20 gets every variable of the .env that --dotenv names, and none of another .env', async () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, '.env'), 'DATABASE_URL=postgres://shop\n');
    const content = `${REPORT} export const payments = { reconcile: async () => {
      console.error('database', process.env.DATABASE_URL);
      return report;
    } };`;
    const args = ['reconcile', '--module', write('a.mjs', content)];
    expect((await paylink(args, { cwd })).stderr).toBe('database undefined\n');
    const named = await paylink([...args, '--dotenv', '.env'], { cwd });
    expect(named.stderr).toBe('database postgres://shop\n');
  });
});
