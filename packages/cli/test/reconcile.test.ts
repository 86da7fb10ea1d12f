import { readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmulator, type Emulator, type EmulatorOptions } from '@paylink/emulator';
import { postgresStore } from '@paylink/postgres';
import { build } from 'esbuild';
import { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startPostgres, type PostgresServer } from '../../../test/servers/postgres.js';
import { runOnce, type RunReport } from '../src/reconcile/run.js';
import { startService } from './prove/service.js';
import { API_KEY, newFolder, paylink, SECRET, start, type Result } from './paylink.js';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const MODULE = at(`../.cache/payments-${process.pid}.mjs`);
const ARGS = ['reconcile', '--module', MODULE];

let server: PostgresServer;
let pool: Pool;

beforeAll(async () => {
  await build({
    entryPoints: [at('reconcile/payments.ts')],
    outfile: MODULE,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@paylink/source', 'module'],
    external: ['pg'],
  });
  server = await startPostgres({ fsync: 'off' });
  pool = new Pool({ connectionString: server.url });
  await postgresStore(pool).migrate();
  await pool.query(`CREATE TABLE orders (
    reference text PRIMARY KEY, amount bigint NOT NULL, currency text NOT NULL DEFAULT 'XOF',
    created_at timestamptz NOT NULL DEFAULT now(), paid_at timestamptz)`);
});
afterAll(async () => {
  await pool.end();
  await server.close();
  await rm(MODULE);
});
beforeEach(() => pool.query('TRUNCATE orders, paylink_marks'));

/** Inserts orders of 100 each, with ascending references. */
async function insertOrders(count: number): Promise<string[]> {
  const references = Array.from({ length: count }, (_, n) => `order-${String(n).padStart(5, '0')}`);
  await pool.query('INSERT INTO orders (reference, amount) SELECT unnest($1::text[]), 100', [
    references,
  ]);
  return references;
}

async function paidOrders(): Promise<string[]> {
  const { rows } = await pool.query<{ reference: string }>(
    'SELECT reference FROM orders WHERE paid_at IS NOT NULL ORDER BY reference',
  );
  return rows.map(({ reference }) => reference);
}

async function openEmulator(assumed: EmulatorOptions['assumed'] = {}) {
  const emulator = await startEmulator({ assumed: { linksKept: 20_000, ...assumed } });
  onTestFinished(() => emulator.close());
  return { emulator, env: environmentOf(emulator) };
}

const environmentOf = ({ baseUrl, apiKey }: Pick<Emulator, 'baseUrl' | 'apiKey'>) => ({
  PAYLINK_BASE_URL: baseUrl,
  PAYLINK_API_KEY: apiKey,
  DATABASE_URL: server.url,
});

/** Creates links, some of them paid. */
async function pay(emulator: Emulator, references: readonly string[], paid: readonly string[]) {
  for (const reference of references) await emulator.createLink({ amount: 100, reference });
  for (const reference of paid) await emulator.pay(reference);
}

/** A service that holds its answers until the test releases them. */
async function openStuckService() {
  let goOn!: () => void;
  let isAsked!: () => void;
  const free = new Promise<void>((resolve) => (goOn = resolve));
  const asked = new Promise<void>((resolve) => (isAsked = resolve));
  const service = await startService(async () => {
    isAsked();
    await free;
    return 'success';
  });
  return {
    env: { ...service.env, DATABASE_URL: server.url },
    references: service.asked,
    asked,
    goOn,
  };
}

/** The merchant's module with some exports replaced. */
function moduleWith(exports: string): string {
  const path = join(newFolder(), 'payments.mjs');
  writeFileSync(path, `export * from ${JSON.stringify(MODULE)};\n${exports}\n`);
  return path;
}

const linesOf = (text: string): string[] => text.split('\n').slice(0, -1);
const recordsOf = ({ stdout }: Pick<Result, 'stdout'>): RunReport[] =>
  linesOf(stdout).map((line) => JSON.parse(line) as RunReport);
const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

describe('paylink reconcile', () => {
  it('credits the paid orders once, prints one line, and exits although the pool is open', async () => {
    const { emulator, env } = await openEmulator();
    const references = await insertOrders(5);
    await pay(emulator, references, references.slice(0, 2));
    const first = await paylink(ARGS, { env });
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(
      /^\d{4}-\S+Z done: read 5 orders in \d+\.\d s: credited 2, pending 3\n$/,
    );
    expect(await paidOrders()).toEqual(references.slice(0, 2));
    const second = await paylink(ARGS, { env });
    expect(second.stdout).toMatch(/done: read 3 orders in .* credited 0, pending 3\n$/);
  });

  it('prints JSON with --json, and calls close() of the module', async () => {
    const { emulator, env } = await openEmulator();
    const references = await insertOrders(2);
    await pay(emulator, references, references.slice(0, 1));
    const module = moduleWith('export const close = () => console.error("closed");');
    const result = await paylink(['reconcile', '--module', module, '--json'], { env });
    expect(result).toMatchObject({ code: 0, stderr: 'closed\n' });
    expect(recordsOf(result)).toMatchObject([
      {
        result: 'done',
        counts: { read: 2, credited: 1, pending: 1, errors: 0, notAsked: 0 },
        credited: ['order-00000'],
        errors: [],
      },
    ]);
  });

  it('prints one line per error without a stack, exits with 1, and credits the other orders', async () => {
    const { emulator, env } = await openEmulator();
    const references = await insertOrders(5);
    await pay(emulator, references.slice(0, 4), references.slice(0, 4));
    await pool.query("UPDATE orders SET amount = 50 WHERE reference = 'order-00001'");
    const { code, stdout, stderr } = await paylink(ARGS, { env });
    expect(code).toBe(1);
    expect(linesOf(stderr).sort()).toEqual([
      expect.stringMatching(/^error: order-00001: amount_differs: /),
      expect.stringMatching(/^error: order-00004: confirm_unavailable: .*\(?404/),
    ]);
    expect(stdout).toMatch(/ incomplete: read 5 orders in .*: credited 3, errors 2\n$/);
    expect(await paidOrders()).toHaveLength(3);
  });

  it('prints twenty errors and a count if the service is down', async () => {
    await insertOrders(60);
    const env = environmentOf({ baseUrl: 'http://127.0.0.1:9/api', apiKey: 'sk_live_a.bcdefghi' });
    const { code, stdout, stderr } = await paylink([...ARGS, '--concurrency', '60'], { env });
    expect(code).toBe(1);
    expect(linesOf(stderr)).toHaveLength(21);
    expect(stderr).toMatch(/\nerror: 40 more orders failed \(--json lists them all\)\n$/);
    expect(linesOf(stdout)).toHaveLength(1);
  });

  it('stops with 3 after a few requests if the key is refused, and credits with the right key', async () => {
    const { emulator, env } = await openEmulator();
    const references = await insertOrders(200);
    await pay(emulator, references, references.slice(0, 3));
    const health = join(newFolder(), 'health.json');
    const args = [...ARGS, '--every', '1s', '--health', health];
    const key = 'sk_live_4f1c2a.abf7158809cf4f3c762e7160f38b4da5';
    const refused = await paylink(args, { env: { ...env, PAYLINK_API_KEY: key } });
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain('error: the service refused the API key (401)\n');
    expect(refused.stdout).toMatch(/ key_refused: read \d orders .* not asked 19\d\n$/);
    expect(emulator.requests().length).toBeLessThanOrEqual(4);
    expect(readJson(health)).toMatchObject({ result: 'key_refused' });
    expect((await paylink(ARGS, { env })).code).toBe(0);
    expect(await paidOrders()).toHaveLength(3);
  });

  it('reconciles 1,000 orders through a rate limit', async () => {
    const { emulator, env } = await openEmulator({ rateLimit: { requests: 600, seconds: 1 } });
    const references = await insertOrders(1_000);
    const paid = references.filter((_, n) => n % 100 === 0);
    await pay(emulator, references, paid);
    const args = [...ARGS, '--concurrency', '16'];
    const { code, stdout, stderr } = await paylink(args, { env });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/done: read 1000 orders in .*: credited 10, pending 990\n$/);
    expect(await paidOrders()).toEqual(paid);
  }, 120_000);

  it('stores a cursor at its deadline, and the next run starts there', async () => {
    const limited = await openEmulator({ rateLimit: { requests: 100, seconds: 60 } });
    const references = await insertOrders(250);
    await pay(limited.emulator, references, []);
    const state = join(newFolder(), 'cursor.json');
    writeFileSync(state, '{"cursor":"0:order-00000"}');
    // One at a time: of four, the refused one need not be the last.
    const args = [...ARGS, '--state', state, '--concurrency', '1'];
    // The pause would outlast the deadline, so the run ends at once.
    const first = await paylink([...args, '--deadline', '30s', '--json'], limited);
    expect(first.code).toBe(1);
    const [{ counts, cursor }] = recordsOf(first) as [RunReport];
    expect(counts).toMatchObject({ read: 100, notAsked: 150 });
    expect(cursor).toBe('100:order-00100');
    expect(readJson(state)).toEqual({ cursor });

    const { emulator, env } = await openEmulator();
    await pay(emulator, references, references.slice(-1));
    expect((await paylink(args, { env })).code).toBe(0);
    expect(emulator.requests()[0]!.path).toContain('order-00100');
    expect(readJson(state)).toEqual({});
    expect(await paidOrders()).toEqual(references.slice(-1));
  });

  it('accepts an async iterable of references, and reports an error of the iterable', async () => {
    const { emulator, env } = await openEmulator();
    const references = await insertOrders(1);
    await pay(emulator, references, references);
    const module = moduleWith(`export async function* unpaidReferences(tenant) {
      yield 'order-00000';
      if (tenant === 'acme') throw new Error('the connection broke\\nin the middle');
    }`);
    const args = ['reconcile', '--module', module, '--no-lock'];
    expect((await paylink([...args, '--tenant', 'acme'], { env })).stderr).toBe(
      'error: the run failed: Error: the connection broke in the middle\n',
    );
    expect((await paylink(args, { env })).code).toBe(0);
    expect(await paidOrders()).toEqual(references);
  });
});

it('a run whose query hangs ends a minute after its deadline and releases its lock', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const onError = vi.fn();
  let isLocked = true;
  const running = runOnce({
    shop: {
      payments: { reconcile: vi.fn() },
      unpaidReferences: () => new Promise(() => undefined),
    },
    tenant: undefined,
    cursor: undefined,
    deadline: 600_000,
    concurrency: 4,
    signal: new AbortController().signal,
    redact: (text) => text,
    alone: (work) => work().finally(() => (isLocked = false)),
    onError,
    onProgress: () => undefined,
  });
  await vi.advanceTimersByTimeAsync(659_000);
  expect(isLocked).toBe(true);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await running).toMatchObject({ result: 'failed' });
  expect(onError.mock.calls).toMatchObject([
    [{ message: expect.stringContaining('in the minute after its deadline') as string }],
  ]);
  expect(isLocked).toBe(false);
});

describe('two concurrent runs', () => {
  it('do not overlap, and a killed run leaves no lock', async () => {
    const service = await openStuckService();
    await insertOrders(1);
    const first = start(ARGS, service.env);
    await service.asked;
    const second = await paylink(ARGS, { env: service.env });
    expect(second).toMatchObject({ code: 0, stderr: '' });
    expect(second.stdout).toMatch(/Z skipped: another run is at work\n$/);
    expect(service.references).toHaveLength(1);

    first.child.kill('SIGKILL');
    await first.result();
    service.goOn();
    // The server notices the closed connection in a moment.
    await expect
      .poll(async () => (await paylink(ARGS, { env: service.env })).stdout)
      .toMatch(/ done: .*credited 1\n$/);
    expect(await paidOrders()).toHaveLength(1);
  });

  it('of two merchants can overlap', async () => {
    const service = await openStuckService();
    await insertOrders(1);
    const first = start([...ARGS, '--tenant', 'acme'], service.env);
    await service.asked;
    service.goOn();
    const second = await paylink([...ARGS, '--tenant', 'globex'], { env: service.env });
    expect(second.stdout).not.toContain('skipped');
    expect((await first.result()).code).toBe(0);
  });

  it('overlap without a database after one warning each, and credit once', async () => {
    const service = await openStuckService();
    await insertOrders(1);
    const module = moduleWith('');
    const { DATABASE_URL, ...env } = service.env;
    const args = ['reconcile', '--module', module, '--json'];
    const url = new URL(DATABASE_URL);
    const others = { ...env, PGHOST: url.hostname, PGPORT: url.port, PGUSER: url.username };
    const two = [start(args, others), start(args, others)];
    await expect.poll(() => service.references.length).toBe(2);
    service.goOn();
    const results = await Promise.all(two.map((each) => each.result()));
    for (const { code, stderr } of results) {
      expect(code).toBe(0);
      expect(stderr).toMatch(
        /^DATABASE_URL does not name a PostgreSQL database, so two runs can overlap\..*\n$/,
      );
    }
    const credited = results.flatMap((result) =>
      recordsOf(result).flatMap((each) => each.credited),
    );
    expect(credited).toEqual(['order-00000']);
  });
});

describe('a schedule', () => {
  it('runs repeatedly, writes its health file, and exits with 0 at SIGTERM', async () => {
    const { emulator, env } = await openEmulator();
    const [first, second] = await insertOrders(2);
    await pay(emulator, [first!, second!], [first!]);
    const health = join(newFolder(), 'health.json');
    const running = start([...ARGS, '--every', '1s', '--health', health], env);
    await running.until(/done: read 2 orders in .*: credited 1, pending 1\n/);
    expect(readJson(health)).toMatchObject({ result: 'done', counts: { read: 2, credited: 1 } });
    await emulator.pay(second!);
    await running.until(/done: read 1 orders in .*: credited 1\n/);
    running.child.kill('SIGTERM');
    expect(await running.result()).toMatchObject({ code: 0, stderr: '' });
    expect(await paidOrders()).toEqual([first, second]);
  });

  it('continues after a failed run, such as during a database outage', async () => {
    const { emulator, env } = await openEmulator();
    const references = await insertOrders(1);
    await pay(emulator, references, references);
    const module = moduleWith(`import { unpaidReferences as unpaid } from ${JSON.stringify(MODULE)};
      let runs = 0;
      export const unpaidReferences = () => {
        if (++runs === 1) throw new Error('the database is away');
        return unpaid();
      };`);
    const running = start(['reconcile', '--module', module, '--every', '1s'], env);
    await running.until(/ failed: [^]* done: .*credited 1\n/);
    running.child.kill('SIGTERM');
    expect(await running.result()).toMatchObject({
      code: 0,
      stderr: 'error: the run failed: Error: the database is away\n',
    });
  });

  it.each([
    [['--every', '5m'], 0],
    [[], 130],
  ])('with %j stops at SIGTERM in the middle of a run and exits with %i', async (more, code) => {
    const service = await openStuckService();
    await insertOrders(50);
    const running = start([...ARGS, ...more], service.env);
    await service.asked;
    running.child.kill('SIGTERM');
    const result = await running.result();
    expect(result).toMatchObject({ code, stderr: '' });
    expect(result.stdout).toMatch(/ stopped: read 0 orders in .*: credited 0\n$/);
    service.goOn();
    expect((await paylink(ARGS, { env: service.env })).stdout).toContain('credited 50');
  });
});

describe('a thrown value that cannot be printed', () => {
  const PAYMENTS = `import { createPayments, memoryStore } from ${JSON.stringify(at('../../payments/src/index.ts'))};`;

  it.each(['Promise.any([])', 'Promise.reject(Object.create(null))', 'Promise.reject(null)'])(
    'of `credit` counts as an error of the run: %s',
    async (thrown) => {
      const module = join(newFolder(), 'payments.mjs');
      const source = `${PAYMENTS}
        export const payments = createPayments({
          client: { getPayment: async (reference) => ({ reference, status: 'success' }) },
          store: memoryStore(),
          credit: () => ${thrown},
        });
        export const unpaidReferences = () => ['order-1'];`;
      await build({
        stdin: { contents: source, resolveDir: at('.') },
        outfile: module,
        bundle: true,
        platform: 'node',
        format: 'esm',
        conditions: ['@paylink/source', 'module'],
      });
      const result = await paylink(['reconcile', '--module', module, '--no-lock']);
      expect(result.code).toBe(1);
      expect(linesOf(result.stderr)).toEqual([expect.stringMatching(/^error: order-1: /)]);
      expect(result.stdout).toMatch(/ incomplete: read 1 orders .*credited 0, errors 1\n$/);
    },
  );

  it('of the module makes the command exit with 2', async () => {
    for (const thrown of ['null', 'new AggregateError([])', 'Object.create(null)']) {
      const result = await paylink(['reconcile', '--module', moduleWith(`throw ${thrown};`)]);
      expect(result).toMatchObject({ code: 2, stdout: '' });
      expect(result.stderr).toContain('payments.mjs cannot be loaded: ');
    }
  });

  it('of close() does not change the exit code', async () => {
    const { env } = await openEmulator();
    const module = moduleWith('export const close = () => { throw Object.create(null); };');
    const result = await paylink(['reconcile', '--module', module], { env });
    expect(result.code).toBe(0);
    expect(result.stderr).toContain('close() of the module failed: ');
  });
});

it('paylink reconcile hides a secret that the limit of a long error would cut', async () => {
  const module = join(newFolder(), 'payments.mjs');
  writeFileSync(
    module,
    `export const payments = { reconcile() {} };
    export const unpaidReferences = () => {
      throw new Error('x'.repeat(285) + process.env.WEBHOOK_SECRET);
    };`,
  );
  for (const more of [[], ['--json']]) {
    const args = ['reconcile', '--module', module, '--no-lock', ...more];
    const { code, stdout, stderr } = await paylink(args, { env: { WEBHOOK_SECRET: SECRET } });
    expect(code).toBe(1);
    expect(`${stdout}${stderr}`).toContain('x[hidden]');
    expect(`${stdout}${stderr}`).not.toContain(SECRET.slice(0, 8));
  }
});

it('paylink reconcile exits at SIGTERM although its module never loads', async () => {
  const module = join(newFolder(), 'payments.mjs');
  const source =
    "console.log('loading'); setInterval(() => {}, 1000); await new Promise(() => {});";
  writeFileSync(module, source);
  const running = start(['reconcile', '--module', module, '--no-lock'], {});
  await running.until(/loading/);
  running.child.kill('SIGTERM');
  expect(await running.result()).toMatchObject({ code: 130 });
});

it('paylink reconcile accepts a deadline over the timer limit of 24 days', async () => {
  const { env } = await openEmulator();
  const result = await paylink([...ARGS, '--deadline', '35791m'], { env });
  expect(result).toMatchObject({ code: 0, stderr: '' });
});

it('paylink reconcile keeps a --state file that is a symbolic link, and leaves no temporary file', async () => {
  const { env } = await openEmulator();
  const [folder, volume] = [newFolder(), newFolder()];
  writeFileSync(join(volume, 'cursor.json'), '{"cursor":"0:order-00000"}');
  symlinkSync(join(volume, 'cursor.json'), join(folder, 'cursor.json'));
  const state = join(folder, 'cursor.json');
  expect((await paylink([...ARGS, '--state', state], { env })).code).toBe(0);
  expect(readlinkSync(state)).toBe(join(volume, 'cursor.json'));
  expect(readJson(join(volume, 'cursor.json'))).toEqual({});
  expect([...readdirSync(folder), ...readdirSync(volume)]).toEqual(['cursor.json', 'cursor.json']);
});

it('paylink reconcile hides secrets in errors of the merchant', async () => {
  const env = {
    PAYLINK_API_KEY: API_KEY,
    WEBHOOK_SECRET: SECRET,
    DATABASE_URL: 'postgres://shop:a-password-of-the-books@127.0.0.1:1/shop',
  };
  const module = join(newFolder(), 'payments.mjs');
  writeFileSync(
    module,
    `export const payments = { reconcile() {} };
    export const unpaidReferences = () => {
      const { PAYLINK_API_KEY, WEBHOOK_SECRET, DATABASE_URL } = process.env;
      throw new Error([PAYLINK_API_KEY, WEBHOOK_SECRET, DATABASE_URL].join(' '));
    };`,
  );
  for (const more of [[], ['--json']]) {
    const args = ['reconcile', '--module', module, '--no-lock', ...more];
    const { code, stdout, stderr } = await paylink(args, { env });
    expect(code).toBe(1);
    expect(`${stdout}${stderr}`).toContain('[hidden] [hidden] [hidden]');
    expect(`${stdout}${stderr}`).not.toContain('a-password-of-the-books');
  }
});

describe('an invalid module or option', () => {
  it.each([
    ['--module is missing', [], 'no --module'],
    ['the module does not exist', ['--module', 'none.js'], 'the file none.js does not exist'],
    [
      '--every has another form',
      ['--module', MODULE, '--every', 'often'],
      'a time such as 30s, 5m or 1h',
    ],
    [
      'the folder of --state does not exist',
      ['--module', MODULE, '--state', 'none/a'],
      '--state: no such folder: none',
    ],
  ])('exits with 2 and names the fault if %s', async (_, args, message) => {
    const result = await paylink(['reconcile', ...args]);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toContain(message);
    expect(result.stderr).not.toMatch(/^ +at /m);
  });

  it.each([
    ['export const payments = {};', 'does not export payments'],
    ['export const unpaidReferences = [];', 'does not export unpaidReferences()'],
    ["throw new Error('a fault of the module');", 'cannot be loaded: a fault of the module'],
    ["export const unpaidReferences = () => [{ reference: 'a' }];", 'must return strings'],
    ['export const unpaidReferences = () => 7;', 'references must be an iterable'],
  ])('exits with 2 also with --every: %s', async (exports, message) => {
    const module = moduleWith(exports);
    const env = environmentOf({ baseUrl: 'http://127.0.0.1:9/api', apiKey: 'sk_live_a.bcdefghi' });
    const result = await paylink(['reconcile', '--module', module, '--every', '1s'], { env });
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toContain(message);
    expect(result.stderr).not.toMatch(/^ +at /m);
  });

  it('in TypeScript requires tsx in the folder', async () => {
    const folder = newFolder();
    const env = environmentOf({ baseUrl: 'http://127.0.0.1:9/api', apiKey: 'sk_live_a.bcdefghi' });
    writeFileSync(
      join(folder, 'payments.ts'),
      `enum No { orders }
      export const payments = { reconcile: async () => ({}) as never };
      export function unpaidReferences(): string[] { throw new Error(No[0]); }`,
    );
    const args = ['reconcile', '--module', 'payments.ts'];
    const without = await paylink(args, { env, cwd: folder });
    expect(without.code).toBe(2);
    expect(without.stderr).toContain('npm install --save-dev tsx');
    symlinkSync(at('../../../test/node_modules'), join(folder, 'node_modules'));
    const result = await paylink(args, { env, cwd: folder });
    expect(result).toMatchObject({ code: 1, stderr: 'error: the run failed: Error: orders\n' });
  });
});
