import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../src/prove/finding.js';
import { COMMAND, newFolder, paylink, start, type Result } from './paylink.js';
import { startService } from './prove/service.js';
import { inTerminal } from './terminal.js';

interface Report {
  readonly complete: boolean;
  readonly stopped?: string;
  readonly asked: number;
  readonly verdicts: Record<string, number>;
  readonly findings: readonly Finding[];
}

const FILES = ['--orders', 'orders.csv', '--credits', 'credits.csv'];

/** Orders of 100 each. The last ones are not credited. */
function writeOrders(count: number, credited: number): string {
  const folder = newFolder();
  const numbers = Array.from({ length: count }, (_, number) => `order-${number}`);
  writeFileSync(
    join(folder, 'orders.csv'),
    ['reference,amount', ...numbers.map((name) => `${name},100`)].join('\n'),
  );
  writeFileSync(
    join(folder, 'credits.csv'),
    ['reference,amount', ...numbers.slice(0, credited).map((name) => `${name},100`)].join('\n'),
  );
  return folder;
}

function write(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = newFolder();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

function deferred(): {
  readonly promise: Promise<undefined>;
  readonly resolve: (value: undefined) => void;
} {
  let resolve!: (value: undefined) => void;
  const promise = new Promise<undefined>((settle) => (resolve = settle));
  return { promise, resolve };
}

/** Answers a hundred times, then pauses until `goOn`. */
async function startStuckService() {
  const hundredth = deferred();
  let isStuck = true;
  const service = await startService((_, __, count) => {
    if (count <= 100 || !isStuck) return 'success';
    hundredth.resolve(undefined);
    return undefined;
  });
  return { ...service, stuck: hundredth.promise, goOn: () => void (isStuck = false) };
}

const reportOf = ({ stdout }: Result): Report => JSON.parse(stdout) as Report;

describe('a run that is stopped', () => {
  it('prints a partial report at Ctrl-C, and the same command then asks only about the rest', async () => {
    const service = await startStuckService();
    const folder = writeOrders(300, 299);
    const args = ['prove', ...FILES, '--ask', 'all', '--state', 'state', '--json'];
    const stopped = start(args, service.env, folder);
    await service.stuck;
    stopped.child.kill('SIGINT');
    const first = await stopped.result();
    const known = reportOf(first);
    expect(first.code).toBe(130);
    expect(first.stderr).toContain('the same command line continues');
    expect(known).toMatchObject({
      complete: false,
      stopped: 'interrupted',
      verdicts: { not_asked: 300 - known.asked },
    });
    expect(known.asked).toBeGreaterThan(90);

    const other = await paylink([...args, '--partial'], { env: service.env, cwd: folder });
    expect(other).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('with other inputs') as string,
    });

    service.goOn();
    const before = service.asked.length;
    const second = await paylink(args, { env: service.env, cwd: folder });
    expect(reportOf(second)).toMatchObject({
      complete: true,
      asked: 300,
      verdicts: { right: 299, lost: 1, not_asked: 0 },
    });
    expect(second.code).toBe(1);
    expect(service.asked.length - before).toBe(300 - known.asked);
    expect(readdirSync(join(folder, 'state'))).toEqual([]);
  });

  it('resumes after kill -9', async () => {
    const service = await startStuckService();
    const folder = writeOrders(300, 299);
    const args = ['prove', ...FILES, '--ask', 'all', '--state', 'state', '--json'];
    const killed = start(args, service.env, folder);
    await service.stuck;
    killed.child.kill('SIGKILL');
    await killed.result();
    service.goOn();
    const second = await paylink(args, { env: service.env, cwd: folder });
    expect(second.stderr).toContain('continuing: the books were read at');
    expect(reportOf(second)).toMatchObject({
      complete: true,
      asked: 300,
      verdicts: { right: 299, lost: 1 },
    });
  });

  it('keeps its answers if the report cannot be written, and asks nothing again', async () => {
    const folder = writeOrders(20, 19);
    const reports = join(folder, 'reports');
    mkdirSync(reports);
    const service = await startService(() => {
      rmSync(reports, { recursive: true, force: true });
      return 'success';
    });
    const args = ['prove', ...FILES, '--ask', 'all', '--state', 'state'];
    const unwritable = await paylink([...args, '--csv', 'missing/findings.csv'], {
      env: service.env,
      cwd: folder,
    });
    expect([unwritable.code, service.asked]).toEqual([2, []]);
    const failed = await paylink([...args, '--csv', 'reports/findings.csv'], {
      env: service.env,
      cwd: folder,
    });
    expect(failed.code).toBe(1);
    expect(failed.stderr).toMatch(/findings\.csv cannot be written \(ENOENT\)\n +the service was/);
    expect(service.asked).toHaveLength(20);
    const second = await paylink([...args, '--csv', 'findings.csv'], {
      env: service.env,
      cwd: folder,
    });
    expect(second.stderr).toContain('continuing: the books were read at');
    expect(service.asked).toHaveLength(20);
    expect(readFileSync(join(folder, 'findings.csv'), 'utf8')).toContain('order-19');
    expect(readdirSync(join(folder, 'state'))).toEqual([]);
  });

  it('drops leftover answers of a run that was killed while it cleared its folder', async () => {
    const service = await startService(() => 'success');
    const folder = writeOrders(3, 3);
    mkdirSync(join(folder, 'state'));
    writeFileSync(
      join(folder, 'state', '.paylink-prove-answers.jsonl'),
      '{"finding":{"finding":"lost","reference":"ghost","reason":"x"}}\n',
    );
    const result = await paylink(
      ['prove', ...FILES, '--ask', 'all', '--state', 'state', '--json'],
      {
        env: service.env,
        cwd: folder,
      },
    );
    expect(reportOf(result)).toMatchObject({
      complete: true,
      verdicts: { right: 3 },
      findings: [],
    });
  });

  it('touches no other file in the --state folder', async () => {
    const folder = writeOrders(3, 3);
    const names = [
      'rows',
      'lock',
      'books.json',
      'questions.jsonl',
      'settled.jsonl',
      'answers.jsonl',
      'final.jsonl',
    ];
    for (const name of names.slice(1)) writeFileSync(join(folder, name), name);
    mkdirSync(join(folder, 'rows'));
    writeFileSync(join(folder, 'rows', 'mine.csv'), 'mine');
    const before = readdirSync(folder);
    const { code } = await paylink(['prove', ...FILES, '--ask', 'none', '--state', '.'], {
      cwd: folder,
    });
    expect(code).toBe(0);
    expect(readdirSync(folder)).toEqual(before);
    expect(readFileSync(join(folder, 'rows', 'mine.csv'), 'utf8')).toBe('mine');
    for (const name of names.slice(1)) expect(readFileSync(join(folder, name), 'utf8')).toBe(name);
  });

  it('takes over the folder of a killed run with the same process id, as in a container', async () => {
    const folder = writeOrders(3, 3);
    const args = ['prove', ...FILES, '--state', 'state'];
    const locking = 'mkdir state && echo $$ > state/.paylink-prove-lock && exec "$0" "$@"';
    const { status } = spawnSync(
      'sh',
      ['-c', locking, process.execPath, COMMAND, ...args, '--ask', 'none'],
      { cwd: folder },
    );
    expect(status).toBe(0);
  });

  it('refuses a --state folder that another run uses', async () => {
    const asked = deferred();
    const service = await startService(() => {
      asked.resolve(undefined);
      return undefined;
    });
    const folder = writeOrders(3, 3);
    const args = ['prove', ...FILES, '--ask', 'all', '--state', 'state'];
    start(args, service.env, folder);
    await asked.promise;
    expect(await paylink(args, { env: service.env, cwd: folder })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is at work in state') as string,
    });
  });

  it('stops if the service is unavailable, judges only the answered orders, and resumes later', async () => {
    let isAway = true;
    const service = await startService((_, response, count) => {
      if (count <= 30 || !isAway) return 'success';
      response.writeHead(403).end();
      return undefined;
    });
    const folder = writeOrders(200, 200);
    // One at a time, because concurrent requests arrive in any order, so the answered ones would
    // not be the first.
    const args = [
      'prove',
      ...FILES,
      '--ask',
      'all',
      '--concurrency',
      '1',
      '--state',
      'state',
      '--json',
    ];
    const first = await paylink(args, { env: service.env, cwd: folder });
    expect(first.code).toBe(1);
    expect(reportOf(first)).toMatchObject({
      complete: false,
      asked: 30,
      verdicts: { right: 30, unknown: 0, not_asked: 170 },
    });
    expect(reportOf(first).stopped).toContain('forbidden');
    isAway = false;
    const second = await paylink(args, { env: service.env, cwd: folder });
    expect(reportOf(second)).toMatchObject({
      complete: true,
      verdicts: { right: 200, not_asked: 0 },
    });
    expect(second.code).toBe(0);
  });

  it('stops at once if the service refuses the key', async () => {
    const service = await startService((_, response) => {
      response.writeHead(401).end();
      return undefined;
    });
    const { code, stdout } = await paylink(['prove', ...FILES, '--ask', 'all'], {
      env: service.env,
      cwd: writeOrders(100, 100),
    });
    expect(code).toBe(1);
    expect(stdout).toContain('unauthorized');
    expect(service.asked.length).toBeLessThan(10);
  });
});

describe('the service', () => {
  it('gets no question during Retry-After, and each refused question again afterwards', async () => {
    let until = 0;
    const early: number[] = [];
    let refusals = 0;
    const service = await startService((_, response, count) => {
      if (performance.now() < until) early.push(count);
      if (count !== 20 && count !== 60) return 'success';
      refusals++;
      until = performance.now() + 1_000;
      // Requests that were already sent are not early.
      response.writeHead(429, { 'retry-after': '1' }).end(() => (early.length = 0));
      return undefined;
    });
    const { stdout } = await paylink(
      ['prove', ...FILES, '--ask', 'all', '--concurrency', '1', '--json'],
      {
        env: service.env,
        cwd: writeOrders(100, 100),
      },
    );
    expect(reportOf({ stdout } as Result)).toMatchObject({
      complete: true,
      verdicts: { right: 100 },
    });
    expect({ refusals, early, asked: service.asked.length }).toEqual({
      refusals: 2,
      early: [],
      asked: 102,
    });
  });

  it('that knows no payment makes no order right', async () => {
    const service = await startService((_, response) => {
      response.writeHead(404).end();
      return undefined;
    });
    const result = await paylink(['prove', ...FILES, '--json'], {
      env: service.env,
      cwd: writeOrders(3, 0),
    });
    expect(reportOf(result).verdicts).toMatchObject({ right: 0, unknown: 3 });
    expect(result.code).toBe(1);
  });

  it('that knows no payment leaves credited orders unknown, but wrong amounts reported', async () => {
    const service = await startService((_, response) => {
      response.writeHead(404).end();
      return undefined;
    });
    const folder = write({
      'orders.csv': 'reference,amount\norder-0,100\norder-1,100\norder-2,100\n',
      'credits.csv': 'reference,amount,by_hand\norder-0,100,\norder-1,9,\norder-2,9,true\n',
    });
    const result = await paylink(['prove', ...FILES, '--ask', 'all', '--json'], {
      env: service.env,
      cwd: folder,
    });
    expect(reportOf(result).verdicts).toMatchObject({
      right: 0,
      unknown: 1,
      credited_without_payment: 0,
      amount_differs: 2,
    });
    expect(result.code).toBe(1);
  });

  it('that knows one payment proves that earlier orders were credited without payment', async () => {
    const service = await startService((reference, response) => {
      if (reference === 'order-2') return 'success';
      response.writeHead(404).end();
      return undefined;
    });
    const args = ['prove', ...FILES, '--ask', 'all', '--concurrency', '1', '--json'];
    const result = await paylink(args, { env: service.env, cwd: writeOrders(3, 3) });
    const { verdicts, findings } = reportOf(result);
    expect(verdicts).toMatchObject({ right: 1, unknown: 0, credited_without_payment: 2 });
    expect(findings.map(({ finding, reference, reason }) => [finding, reference, reason])).toEqual(
      expect.arrayContaining([
        [
          'credited_without_payment',
          'order-0',
          'credited, but the service does not know the payment',
        ],
        [
          'credited_without_payment',
          'order-1',
          'credited, but the service does not know the payment',
        ],
      ]),
    );
  });

  it('proves nothing if a proxy answers 404 with an HTML page', async () => {
    const service = await startService((reference, response) => {
      if (reference === 'order-2') return 'success';
      response
        .writeHead(404, { 'Content-Type': 'text/html' })
        .end('<!DOCTYPE html><title>404 Not Found</title>');
      return undefined;
    });
    const result = await paylink(['prove', ...FILES, '--ask', 'all', '--json'], {
      env: service.env,
      cwd: writeOrders(3, 3),
    });
    const { verdicts, findings } = reportOf(result);
    expect(verdicts).toMatchObject({ right: 1, unknown: 2, credited_without_payment: 0 });
    expect(findings.map(({ reason }) => reason)).toEqual(
      Array(2).fill(expect.stringContaining('with a page of HTML')),
    );
    expect(result.code).toBe(1);
  });

  it.each([['404 page not found'], ['']])(
    'proves nothing if a proxy answers 404 %j to an encoded slash',
    async (page) => {
      const service = await startService((reference, response) => {
        if (reference === 'order-1') return 'success';
        response.writeHead(404).end(reference === 'shop/3' ? '{"error":"not_found"}' : page);
        return undefined;
      });
      const folder = write({
        'orders.csv': 'reference,amount\norder-1,100\nshop/2,100\nshop/3,100\n',
        'credits.csv': 'reference\norder-1\n',
      });
      const result = await paylink(['prove', ...FILES, '--json'], {
        env: service.env,
        cwd: folder,
      });
      expect(reportOf(result)).toMatchObject({
        verdicts: { right: 2, unknown: 1 },
        findings: [
          { reference: 'shop/2', reason: expect.stringContaining('without JSON') as string },
        ],
      });
      expect(result.code).toBe(1);
    },
  );

  it('that knows one payment leaves an unpaid order without a link right', async () => {
    const service = await startService((reference, response) => {
      if (reference !== 'order-0') return 'success';
      response.writeHead(404).end();
      return undefined;
    });
    const folder = write({
      'orders.csv': 'reference,amount\norder-0,100\norder-1,100\n',
      'credits.csv': 'reference\norder-1\n',
    });
    const result = await paylink(['prove', ...FILES, '--json'], { env: service.env, cwd: folder });
    expect(reportOf(result)).toMatchObject({ verdicts: { right: 2, unknown: 0 }, findings: [] });
    expect(result.code).toBe(0);
  });

  it('is not asked with --ask none, and then no order is right', async () => {
    const result = await paylink(['prove', ...FILES, '--ask', 'none', '--json'], {
      cwd: writeOrders(5, 5),
    });
    expect(reportOf(result)).toMatchObject({
      complete: true,
      asked: 0,
      verdicts: { right: 0, not_asked: 5 },
    });
    expect(result.code).toBe(0);
  });
});

describe('paylink prove', () => {
  const fine = 'reference,amount\norder-1,100\n';
  it.each([
    ['is missing', {}, /--orders: orders\.csv cannot be read \(ENOENT\)/],
    ['is empty', { 'orders.csv': '' }, /--orders: orders\.csv is empty/],
    [
      'is in another encoding',
      { 'orders.csv': Buffer.from('reference,amount\nd\xe9j\xe0,100\n', 'latin1') },
      /is not UTF-8/,
    ],
    [
      'has a quote without an end',
      { 'orders.csv': 'reference,amount\n"order-1,100\n' },
      /is not CSV: quote not closed/,
    ],
    [
      'has no column reference',
      { 'orders.csv': 'number,amount\n1,100\n' },
      /has no column reference\n.*reference, amount, amount_min/,
    ],
    [
      'has no amount column',
      { 'orders.csv': 'reference\norder-1\n' },
      /has no column amount or amount_min/,
    ],
    [
      'has two columns with the same name',
      { 'orders.csv': 'reference,amount,amount\norder-1,1,2\n' },
      /--orders: .* has two columns amount/,
    ],
    [
      'has two columns reference',
      { 'credits.csv': 'reference, reference\na,b\n', 'orders.csv': fine },
      /--credits: .* two columns reference/,
    ],
    [
      'has more cells than columns',
      { 'orders.csv': 'reference,amount\norder-1,1,000\n' },
      /is not CSV/,
    ],
  ])('exits with 2 if an input %s', async (_, files, message) => {
    const folder = write({ 'credits.csv': fine, ...files });
    const result = await paylink(['prove', ...FILES, '--ask', 'none'], { cwd: folder });
    expect({ code: result.code, stdout: result.stdout }).toEqual({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(message);
  });

  it('exits with 3 and calls nothing right if there are no orders', async () => {
    const folder = write({ 'orders.csv': 'reference,amount\n', 'credits.csv': 'reference\n' });
    const result = await paylink(['prove', ...FILES, '--ask', 'none'], { cwd: folder });
    expect(result).toMatchObject({
      code: 3,
      stdout: expect.stringContaining('no order was read, so the run proves nothing') as string,
    });
    expect(result.stdout).not.toContain('no finding');
    const json = await paylink(['prove', ...FILES, '--ask', 'none', '--json'], { cwd: folder });
    expect([json.code, reportOf(json)]).toEqual([
      3,
      expect.objectContaining({ complete: true, orders: 0 }),
    ]);
  });

  it('reads one input from stdin, and refuses to read two', async () => {
    const folder = write({ 'credits.csv': fine });
    const one = await paylink(
      ['prove', '--orders', '-', '--credits', 'credits.csv', '--ask', 'none', '--json'],
      {
        cwd: folder,
        stdin: fine,
      },
    );
    expect(reportOf(one).verdicts).toMatchObject({ not_asked: 1 });
    const two = await paylink(['prove', '--orders', '-', '--credits', '-', '--ask', 'none'], {
      cwd: folder,
      stdin: fine,
    });
    expect(two).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot both be read from stdin') as string,
    });
  });

  it('detects the delimiter of stdin from the whole first line, even if a pipe splits it', () => {
    const folder = write({ 'credits.csv': fine });
    const script = `(printf 'refer'; sleep 2; printf 'ence;amount\\norder-1;1,00\\n') | "$NODE" "$COMMAND" prove --orders - --credits credits.csv --ask none --json`;
    const env = { ...process.env, NODE: process.execPath, COMMAND };
    const { stdout } = spawnSync('sh', ['-c', script], { cwd: folder, encoding: 'utf8', env });
    expect((JSON.parse(stdout) as Report).findings[0]!.reason).toContain('has the amount "1,00"');
  });

  it('escapes control characters in CSV at a terminal, but not in a pipe', async () => {
    const folder = write({
      'orders.csv': 'reference,amount\norder-1,100\n',
      'credits.csv': 'reference,amount\nb\u001b[2Jb,100\n',
    });
    const args = ['prove', ...FILES, '--ask', 'none', '--csv'];
    const { output } = await inTerminal(args, {}, [], folder);
    expect(output).toContain('credit_without_order,b\\x1b[2Jb,');
    expect(output).not.toContain('\u001b[2J');
    expect((await paylink(args, { cwd: folder })).stdout).toContain(
      'credit_without_order,b\u001b[2Jb,',
    );
  });

  it('streams ten thousand findings to stdout without a warning', async () => {
    const rows = ',100\n'.repeat(10_000);
    const folder = write({
      'orders.csv': `reference,amount\n${rows}`,
      'credits.csv': 'reference\n',
    });
    const args = ['prove', ...FILES, '--ask', 'none', '--csv'];
    const { stdout, stderr } = await paylink(args, { cwd: folder });
    expect(stdout.match(/\r\n/g)).toHaveLength(10_001);
    expect(stderr).not.toContain('MaxListeners');
  });

  it('names a faulty row by its number, and judges the other rows', async () => {
    const folder = write({
      'orders.csv':
        '\ufeffreference;amount\r\n"a\r\nb";100\r\n;100\r\nc;1e3\r\nc2;9007199254740993\r\nd;-5\r\ne;100\r\ne;200\r\n\0;100\r\n',
      'credits.csv': 'reference\tby_hand\nc\tperhaps\n',
    });
    const result = await paylink(['prove', ...FILES, '--ask', 'none', '--json'], { cwd: folder });
    const { findings, verdicts } = reportOf(result);
    expect(verdicts).toMatchObject({ unknown: 3, not_asked: 2 });
    const said = findings
      .map(({ finding, reference = '', reason }) => `${finding} ${reference}: ${reason}`)
      .sort();
    expect(said).toEqual([
      'input_fault : --orders, row 3 has no reference',
      'input_fault : --orders, row 9: the reference must not contain NUL',
      'reference_repeated e: 2 rows of the orders have this reference: duplicate orders, of which a payment pays only one, or a join',
      'unknown c2: --orders, row 5 has the amount "9007199254740993", which is not a whole number of the smallest unit',
      'unknown c: --orders, row 4 has the amount "1e3", which is not a whole number of the smallest unit',
      'unknown d: --orders, row 6 has the amount "-5", which is not a whole number of the smallest unit',
    ]);
  });
});
