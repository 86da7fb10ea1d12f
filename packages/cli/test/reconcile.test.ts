import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Emulator } from '@paylink/emulator';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { RunReport } from '../src/sweep/run.js';
import { showReport } from '../src/sweep/show.js';
import { Output } from '../src/terminal/output.js';
import {
  COMMAND,
  newFolder,
  paylink,
  paylinkProcess,
  start,
  startHere,
  words,
  type Result,
} from './paylink.js';
import { environmentOf, moduleOf, NOBODY, openEmulator, order, paylinkOn } from './shop/index.js';
import type { Shop } from './shop/payments.js';

const referencesOf = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `order-${String(n).padStart(3, '0')}`);
const rowsOf = (references: readonly string[]) =>
  references.map((reference) => order({ reference }));

/** Creates links, some of them paid. */
async function pay(emulator: Emulator, references: readonly string[], paid: readonly string[]) {
  for (const reference of references) await emulator.createLink({ amount: 15_000, reference });
  for (const reference of paid) await emulator.pay(reference);
}

/** Opens a service with links of some orders, which are paid but for the last `unpaid`. */
async function openService(count: number, unpaid = 0) {
  const emulator = await openEmulator();
  const references = referencesOf(count);
  await pay(emulator, references, references.slice(0, count - unpaid));
  return { emulator, references, rows: rowsOf(references) };
}

const linesOf = (text: string): string[] => text.split('\n').slice(0, -1);
const recordsOf = ({ stdout }: Pick<Result, 'stdout'>): RunReport[] =>
  linesOf(stdout).map((line) => JSON.parse(line) as RunReport);

describe('paylink reconcile', () => {
  it('credits the paid orders, and prints one line', async () => {
    const { emulator, rows } = await openService(5, 3);
    const shop = { rows, saysClosed: true };
    const result = await paylinkOn(emulator, shop, ['reconcile']);
    expect(result).toMatchObject({ code: 0, stderr: 'closed\n' });
    expect(result.stdout).toMatch(
      /^\d{4}-\S+Z done: read 5 orders in \d+\.\d s: credited 2, pending 3\n$/,
    );
  });

  it('lists orders without a payment apart, and exits with 0', { tags: 'P10' }, async () => {
    const emulator = await openEmulator();
    await pay(emulator, ['order-000'], ['order-000']);
    const shop = { rows: rowsOf(referencesOf(12)) };
    const { code, stdout, stderr } = await paylinkOn(emulator, shop, ['reconcile']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/ done: read 12 orders in .*: credited 1, no payment 11\n/);
    expect(stdout).toMatch(
      / {2}the service has no payment for: (order-0\d\d, ){9}order-0\d\d and 1 more\n/,
    );
    expect(stderr).toBe('');
  });

  it(
    'warns of a wrong baseUrl if the service knows none of ten orders',
    { tags: 'P36' },
    async () => {
      const emulator = await openEmulator();
      const shop = { rows: rowsOf(referencesOf(10)) };
      const { code, stderr } = await paylinkOn(emulator, shop, ['reconcile']);
      expect(code).toBe(0);
      expect(stderr).toContain('baseUrl');
    },
  );

  it('names the next command for each kind of error, exits with 1, and credits the others', async () => {
    const { emulator, rows } = await openService(4);
    const [first, ...others] = rows;
    const cwd = newFolder();
    writeFileSync(join(cwd, '.env'), '');
    const shop = { rows: [order({ ...first!, amount: 'many' }), ...others] };
    const args = ['reconcile', '--dotenv', '.env'];
    const { code, stdout, stderr } = await paylinkOn(emulator, shop, args, { cwd });
    expect(code).toBe(1);
    expect(stdout).toMatch(/ incomplete: read 4 orders in .*: credited 3, errors 1\n$/);
    expect(stderr).toMatch(
      /error: invalid_order: order-000: .*amount.*\n {2}npx --no-install paylink explain --module \S+ --dotenv \.env order-000\n/,
    );
    expect(stderr).not.toMatch(/^ +at /m);
  });

  it(
    'prints manual cases, and exits with 0 because every order was read',
    { tags: 'Q13' },
    async () => {
      const { emulator, rows } = await openService(4);
      const [first, second, ...others] = rows;
      const shop = { rows: [{ ...first!, amount: 1 }, { ...second!, closed: true }, ...others] };
      const { code, stdout } = await paylinkOn(emulator, shop, ['reconcile']);
      expect(code).toBe(0);
      expect(stdout).toMatch(/ done: read 4 orders in .*: credited 2, undecided 2\n/);
      expect(stdout).toMatch(
        / {2}amount_differs, needs a manual decision: order-000\n {2}npx .*explain .*order-000\n/,
      );
      expect(stdout).toMatch(/ {2}order_closed, needs a manual decision: order-001\n/);
      const [report] = recordsOf(await paylinkOn(emulator, shop, ['reconcile', '--json']));
      expect(report).toMatchObject({
        result: 'done',
        lists: {
          undecided: {
            count: 2,
            details: [
              { reference: 'order-000', outcome: 'amount_differs' },
              { reference: 'order-001', outcome: 'order_closed' },
            ],
          },
        },
      });
    },
  );

  it('exits with 1 after a few questions if the service refuses the key', async () => {
    const paths: string[] = [];
    const emulator = await openEmulator({}, paths);
    const references = referencesOf(50);
    await pay(emulator, references, []);
    const other = { ...emulator, apiKey: 'sk_live_another.abf7158809cf4f3c762e7160f38b4da5' };
    const { code, stderr } = await paylinkOn(other, { rows: rowsOf(references) }, ['reconcile']);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /error: the service rejected the API key \(401\), so the run did not ask about order-/,
    );
    expect(stderr).toContain('compare PAYLINK_API_KEY');
    expect(paths.length).toBeLessThanOrEqual(8);
  });

  it('names the limit of the service and the orders it left, and --cursor starts there', async () => {
    const emulator = await openEmulator({ rateLimit: { requests: 20, seconds: 60 } });
    const references = referencesOf(50);
    await pay(emulator, references, []);
    const args = ['reconcile', '--concurrency', '1', '--time-limit', '5s'];
    const shop = { rows: rowsOf(references) };
    const first = await paylinkOn(emulator, shop, args);
    expect(first.code).toBe(1);
    expect(first.stdout).toMatch(/ incomplete: read 2\d orders /);
    const said =
      /error: the service limits requests \(429\), so the run did not ask about (order-\d+), .* more\n {2}npx --no-install paylink reconcile --module \S+ --cursor '?(\S+?)'?\n/;
    expect(first.stderr).toMatch(said);
    const [, , cursor] = said.exec(first.stderr)!;
    const paths: string[] = [];
    const free = await openEmulator({}, paths);
    await pay(free, references, []);
    const second = await paylinkOn(
      free,
      shop,
      words`reconcile --concurrency 1 --cursor ${cursor!}`,
    );
    expect(second.code).toBe(0);
    expect(paths.find((path) => path.includes('/payments/'))).toContain(cursor!.split(':')[1]!);
  });

  it(
    'keeps no state, so neither another run nor a folder without access stops it',
    { tags: 'Q04' },
    async () => {
      const { emulator, rows } = await openService(3);
      const args = ['reconcile', '--module', moduleOf({ rows })];
      const env = { ...environmentOf(emulator), TMPDIR: '/nowhere' };
      const both = await Promise.all([
        paylinkProcess(args, { env }),
        paylinkProcess(args, { env }),
      ]);
      expect(both.map(({ code }) => code)).toEqual([0, 0]);
    },
  );

  it(
    'exits with the code of its run although close() and a timer of the module hang',
    { tags: 'Q11' },
    async () => {
      const module = join(newFolder(), 'a.mjs');
      const close = 'setInterval(() => {}, 1e6); export const close = () => new Promise(() => {});';
      const payments = 'export const payments = { reconcile: () => { throw new Error("no"); } };';
      writeFileSync(module, `${close}\n${payments}`);
      const { code, stderr } = await paylinkProcess(['reconcile', '--module', module]);
      expect(code).toBe(1);
      expect(stderr).toContain("the module's close() failed: it took more than 5 s");
    },
  );

  it('settles the references that you name, also without unpaid()', async () => {
    const { emulator, rows } = await openService(3);
    const shop: Shop = { rows, lists: 'none' };
    const args = ['reconcile', 'order-001', 'order-002'];
    const { code, stdout } = await paylinkOn(emulator, shop, args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/ done: read 2 orders in .*: credited 2\n$/);
  });

  it('works for each merchant in turn, and one failing merchant does not stop the others', async () => {
    const { emulator } = await openService(2);
    const rows = [
      order({ reference: 'order-000', tenant: 'acme', amount: 'many' }),
      order({ reference: 'order-001', tenant: 'globex' }),
    ];
    const shop = { rows, isForMany: true };
    const args = words`reconcile --tenant acme --tenant globex --tenant globex`;
    const { code, stdout, stderr } = await paylinkOn(emulator, shop, args);
    expect(code).toBe(1);
    expect(stdout).toMatch(/ incomplete of acme: read 1 .*\n.* done of globex: .*credited 1\n$/);
    expect(stderr).toMatch(/explain --module \S+ --tenant acme order-000\n/);
    const without = await paylinkOn(emulator, shop, ['reconcile']);
    expect(without).toMatchObject({ code: 2, stdout: '' });
    expect(without.stderr).toContain('tenant');
  });

  it('does not end the run of all merchants if the service refuses the key of one', async () => {
    const { emulator, references } = await openService(9);
    const rows = references.map((reference, index) =>
      order({ reference, tenant: index < 5 ? 'refused' : 'globex' }),
    );
    const shop = { rows, isForMany: true };
    const args = words`reconcile --tenant refused --tenant globex`;
    const { code, stdout, stderr } = await paylinkOn(emulator, shop, args);
    expect(code).toBe(1);
    expect(stdout).toMatch(/ incomplete of refused: .*\n[^]* done of globex: .*credited 4\n$/);
    expect(stderr).toContain('rejected the API key (401)');
  });

  it('takes null for the only merchant of a client that is a function', async () => {
    const emulator = await openEmulator();
    await pay(emulator, ['order-000', '-1'], ['order-000', '-1']);
    const rows = [order({ reference: 'order-000' }), order({ reference: '-1', amount: 'many' })];
    const shop = { rows, isForMany: true };
    const { stdout, stderr } = await paylinkOn(emulator, shop, ['reconcile', '--tenant', 'null']);
    expect(stdout).toMatch(/ incomplete: read 2 .*credited 1, errors 1\n$/);
    expect(stderr).toMatch(/explain --module \S+ --tenant null -- -1\n/);
  });

  it.runIf(existsSync('/dev/full'))('credits although a full disk takes no output', async () => {
    const paths: string[] = [];
    const emulator = await openEmulator({}, paths);
    const rows = [
      order({ reference: 'a', tenant: 'acme' }),
      order({ reference: 'b', tenant: 'b' }),
    ];
    await pay(emulator, ['a', 'b'], ['a', 'b']);
    const module = moduleOf({ rows, isForMany: true });
    const args = words`${COMMAND} reconcile --module ${module} --tenant acme --tenant b`;
    const env = { ...process.env, ...environmentOf(emulator) };
    const full = openSync('/dev/full', 'w');
    const cwd = newFolder();
    const child = spawn(process.execPath, args, { env, cwd, stdio: ['pipe', full, full] });
    const [code] = (await once(child, 'exit')) as unknown[];
    closeSync(full);
    expect(code).toBe(1);
    const asked = paths.filter((path) => path.includes('/v1/payments/'));
    expect(asked.map((path) => path.split('/').at(-1))).toEqual(['a', 'b']);
  });

  it('exits with 1 if the list fails', { tags: 'Q03' }, async () => {
    const shop = { rows: rowsOf(['order-000']), lists: 'throw' as const };
    const { code, stdout, stderr } = await paylinkOn(NOBODY, shop, ['reconcile']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/ failed: read 0 orders/);
    expect(stderr).toContain('error: the run failed: Error: the connection broke in the middle\n');
  });

  it('exits with 1 if the list hangs', { tags: 'Q03' }, async () => {
    const shop = { rows: [], lists: 'hang' as const, timeout: 500 };
    const { code, stderr } = await paylinkOn(NOBODY, shop, ['reconcile']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/error: the run failed: orders_unavailable: unpaid\(\) did not end/);
  });

  it.each([
    ['keeps its cursor', ['--cursor', '1:order-1'], { tenant: null, cursor: '1:order-1' }],
    ['starts no other merchant', ['--tenant', 'a', '--tenant', 'b'], { tenant: 'a' }],
  ])('ends at SIGTERM although a list hangs, and %s', async (_, options, report) => {
    const isForMany = options.includes('--tenant');
    const shop = { rows: [], lists: 'hang' as const, isLoud: true, isForMany };
    const args = ['reconcile', '--module', moduleOf(shop), '--json', ...options];
    const running = start(args, environmentOf(NOBODY));
    await running.until(/reads the list/);
    const { code, stdout } = await running.stop('SIGTERM');
    expect(code).toBe(130);
    const records = recordsOf({ stdout: stdout.replaceAll('reads the list\n', '') });
    expect(records).toMatchObject([{ result: 'stopped', ...report }]);
  });
});

describe('paylink verify', () => {
  const rows = ['confirmed', 'pending', 'differs', 'missing'].map((reference) =>
    order({ reference, paid: true }),
  );

  it('exits with 0 if the service confirms every paid order', async () => {
    const emulator = await openEmulator();
    await pay(emulator, ['confirmed'], ['confirmed']);
    const shop = { rows: rows.slice(0, 1) };
    const { code, stdout } = await paylinkOn(emulator, shop, ['verify']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/ done: read 1 order in .*: confirmed 1\n$/);
  });

  it('verifies the references that you name, also without paid()', async () => {
    const emulator = await openEmulator();
    await pay(emulator, ['confirmed', 'pending'], ['confirmed']);
    const shop: Shop = { rows, lists: 'none' };
    const args = ['verify', 'confirmed', 'pending'];
    const { code, stdout } = await paylinkOn(emulator, shop, args);
    expect(code).toBe(1);
    expect(stdout).toMatch(/ found: read 2 orders in .*: confirmed 1, not paid 1\n/);
  });

  it('lists the paid orders that the service does not confirm, exits with 1, and writes nothing', async () => {
    const emulator = await openEmulator();
    await pay(emulator, ['confirmed', 'pending'], ['confirmed']);
    await emulator.createLink({ amount: 500, reference: 'differs' });
    await emulator.pay('differs');
    const shop: Shop = { rows, credit: 'throws' };
    const { code, stdout } = await paylinkOn(emulator, shop, ['verify']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/ found: read 4 orders in/);
    expect(stdout).toContain('  paid in your database, but not at the service: pending\n');
    expect(stdout).toContain('  a different amount or currency at the service: differs\n');
    expect(stdout).toContain('  the service has no payment for: missing\n');
    expect(stdout).toMatch(/paylink explain --module \S+ pending\n/);
  });
});

describe('--module', () => {
  const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
  const REPORT = `const list = { count: 0, references: [] };
    const report = { total: 0, credited: list, notAsked: list, noPayment: list,
      errors: { ...list, details: [] }, undecided: { ...list, details: [] }, keyRefused: false };`;
  const write = (name: string, content: string): string => {
    const path = join(newFolder(), name);
    writeFileSync(path, content);
    return path;
  };

  it.each([
    ['a missing file', ['--module', 'missing.js'], 'the file missing.js does not exist'],
    ['an empty tenant', ['--module', 'a.js', '--tenant', ''], '--tenant must not be empty'],
    [
      'a cursor for two merchants',
      ['--module', 'a.js', '--tenant', 'a', '--tenant', 'b', '--cursor', '1:order-1'],
      '--cursor belongs to one merchant',
    ],
  ])('exits with 2 for %s', async (_, args, message) => {
    const result = await paylink(['reconcile', ...args]);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toContain(message);
  });

  it.each([
    ['export const orders = {};', 'does not export payments'],
    [
      'export const payments = Promise.resolve({});',
      'does not export payments from createPayments',
    ],
    ['export const payments = 7;', 'does not export payments'],
    ["throw new Error('a fault of the module');", 'cannot be loaded: a fault of the module'],
    [
      "import 'npm:@paylink/client';",
      'needs Deno: run npx deno run -A npm:@paylink/cli instead of npx',
    ],
    ["Deno.env.get('SUPABASE_URL');", 'a Deno module needs Deno'],
    [
      "import { createRequire } from 'node:module'; createRequire(import.meta.url)('npm:a');",
      'a Deno module needs Deno',
    ],
  ])('exits with 2 for a module with %s', async (content, message) => {
    const result = await paylink(['reconcile', '--module', write('a.mjs', content)]);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toContain(message);
    expect(result.stderr).not.toMatch(/^ +at /m);
  });

  it.each([
    ['reconcile', 'unpaid()'],
    ['verify', 'paid()'],
  ])(
    'exits with 2 if %s finds no %s, and says that you can name references',
    async (name, list) => {
      const shop: Shop = { rows: [], lists: 'none' };
      const { code, stderr } = await paylinkOn(NOBODY, shop, [name]);
      expect(code).toBe(2);
      expect(stderr).toContain(`have no function ${list}: pass the references, or add ${list}`);
      expect(stderr).toMatch(new RegExp(`paylink ${name} --module \\S+ <reference> <another>\n`));
    },
  );

  it('prints no secret of the environment that its error quotes', async () => {
    const env = { PAYLINK_API_KEY: 'sk_live_a.bcdefghi', WEBHOOK_SECRET: 'a-secret-of-a-portal' };
    const names = Object.keys(env).map((name) => `process.env.${name}`);
    const content = `throw new Error(${names.join(' + ')});`;
    const result = await paylink(['reconcile', '--module', write('a.mjs', content)], { env });
    expect(result.stderr).toContain('cannot be loaded: [hidden][hidden]\n');
  });

  it('ends the command with 130 at SIGTERM while it loads', async () => {
    const content =
      "console.log('loads'); await new Promise((resolve) => setTimeout(resolve, 1e6));";
    const running = await startHere(['reconcile', '--module', write('a.mjs', content)]);
    await running.until(/loads/);
    expect((await running.stop('SIGTERM')).code).toBe(130);
  });

  it('ends with 130 if SIGTERM leaves the next merchant out, although the first run is done', async () => {
    const content = `${REPORT} export const payments = { reconcile: (_, { signal }) => {
      console.log('reads', setTimeout(() => undefined, 1e6) && '');
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(report)));
    } };`;
    const tenants = ['--tenant', 'a', '--tenant', 'b'];
    const args = ['reconcile', '--module', write('a.mjs', content), ...tenants];
    const running = await startHere(args);
    await running.until(/reads/);
    const { code, stdout } = await running.stop('SIGTERM');
    expect(code).toBe(130);
    expect(stdout).toMatch(/ done of a: /);
    expect(stdout).not.toContain(' of b: ');
  });

  it('ends explain with 130 and no error at SIGINT while the order is read', async () => {
    const content = `export const payments = { explain: (_, { signal }) => {
      console.log('reads', setTimeout(() => undefined, 1e6) && '');
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    } };`;
    const running = await startHere(['explain', 'order-42', '--module', write('a.mjs', content)]);
    await running.until(/reads/);
    expect(await running.stop()).toMatchObject({ code: 130, stderr: '' });
  });

  it('can be CommonJS', async () => {
    // Node finds no names in these exports, so they are in `default` alone.
    const content = `${REPORT} const shop = { payments: { reconcile: async () => report } };
      module.exports = shop;`;
    expect((await paylink(['reconcile', '--module', write('a.cjs', content)])).code).toBe(0);
  });

  it('needs tsx in the folder for TypeScript', async () => {
    const module = write(
      'a.ts',
      `enum Kind { order } ${REPORT} export const payments = { reconcile: async () => report, Kind };`,
    );
    const cwd = newFolder();
    const without = await paylink(['reconcile', '--module', module], { cwd });
    expect(without.code).toBe(2);
    expect(without.stderr).toContain('npm install --save-dev tsx');
    symlinkSync(at('../../../test/node_modules'), join(cwd, 'node_modules'));
    expect((await paylinkProcess(['reconcile', '--module', module], { cwd })).code).toBe(0);
    const failing = write('b.ts', 'throw new Error("no database")');
    const failed = await paylinkProcess(['reconcile', '--module', failing], { cwd });
    expect(failed.stderr).toMatch(/no database\n$/);
  });

  it('may miss a variable of .env', async () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, '.env'), 'DATABASE_URL=postgres://shop\n');
    const module = write('a.mjs', 'throw new Error("no database")');
    const { stderr } = await paylink(['reconcile', '--module', module], { cwd });
    expect(stderr).toContain('not loaded from .env: DATABASE_URL');
  });

  it(
    'gets every variable of the .env that --dotenv names, and none of another .env',
    { tags: 'O20' },
    async () => {
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
    },
  );

  it('ends the run as incomplete if it did not read its list to the end', async () => {
    const reconcile = "reconcile: async () => ({ ...report, cursor: '1:order-1' })";
    const module = write('a.mjs', `${REPORT} export const payments = { ${reconcile} };`);
    const { code, stdout } = await paylink(['reconcile', '--module', module]);
    expect([code, stdout]).toEqual([1, expect.stringContaining(' incomplete: read 0 orders')]);
  });

  it('counts the orders of a list beyond the thousand that a report names', async () => {
    const content = `${REPORT}
      const references = Array.from({ length: 1_000 }, (_, index) => 'order-' + index);
      const reconcile = async () => ({ ...report, noPayment: { count: 2_500, references } });
      export const payments = { reconcile };`;
    const { stdout } = await paylink(['reconcile', '--module', write('a.mjs', content)]);
    expect(stdout).toMatch(/the service has no payment for: .*, order-9 and 2490 more\n/);
  });
});

it('reconcile prints in seconds how long a run took', () => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  onTestFinished(() => write.mockRestore());
  const lists = { credited: { count: 2, references: ['a', 'b'] } };
  const report = {
    time: 'now',
    tenant: null,
    durationMs: 12_345,
    result: 'done',
    read: 2,
  } as const;
  const flags = { module: './payments.js' };
  showReport({ ...report, lists, cursor: undefined }, 'reconcile', flags, new Output(false));
  expect(write.mock.calls[0]![0]).toBe('now done: read 2 orders in 12.3 s: credited 2\n');
});
