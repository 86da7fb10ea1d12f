/** `paylink torture` in its own process, on a real PostgreSQL. */
import { execFileSync, spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { paylinkProcess, start } from '../../packages/cli/test/paylink.js';
import { freePort } from '../servers/starting.js';
import { shopAt, sourceOf } from './explore.js';
import { url } from './postgres.js';
import { at, tortureProgram } from './programs.js';

const cwd = at('..');
const module = shopAt('sql');
const torture = (design: string, ...more: string[]) =>
  paylinkProcess(['torture', '--module', module, '--database', url, ...more], {
    cwd,
    env: { DESIGN: design },
  });

/** The command ends by itself after a minute. */
describe('paylink torture', { timeout: 120_000 }, () => {
  it(
    'exits with 1 for a broken credit, tells its story, and replays it',
    { tags: 'Q20' },
    async () => {
      const found = await torture('a lock in memory');
      expect(found).toMatchObject({ code: 1, stderr: '' });
      expect(found.stdout).toMatch(
        /^Two deliveries both credit.*\n {2}A {2}SELECT[^]*--replay (\d+)/,
      );
      const [story] = found.stdout.split('Replay it');
      expect(story!.split('\n').length).toBeLessThanOrEqual(25);
      const [, number] = /--replay (\d+)/.exec(found.stdout)!;
      const again = await torture('a lock in memory', '--replay', number!);
      expect(again).toMatchObject({ code: 1, stdout: expect.stringContaining(story!) as string });
    },
  );

  it('exits with 0 for a right credit, and says what it tried and what not', async () => {
    const { code, stdout } = await torture('one write', '--json');
    expect(code).toBe(0);
    const report = JSON.parse(stdout) as { orders: { tried: number }; notTested: string[] };
    expect(report.orders.tried).toBeGreaterThan(10);
    expect(report.notTested).toEqual([
      expect.stringMatching(/^further writes/),
      expect.stringMatching(/^two orders that share a row/),
    ]);
  });

  it('delivers orders of the merchant that --tenant names', async () => {
    const args = ['torture', '--module', sourceOf('tenants'), '--database', url];
    const { code, stdout } = await paylinkProcess([...args, '--tenant', 'acme', '--replay', '3'], {
      cwd,
    });
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^no fault/) as string,
    });
    const alone = await paylinkProcess(args, { cwd });
    expect(alone).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('stored no order') as string,
    });
  });

  it('exits with 2 for a database that is none, and prints no password', async () => {
    const address = 'postgres://shop:the-portals-value-2b7e151628aed2a6@127.0.0.1:1/shop';
    const args = ['torture', '--module', module, '--database', address];
    const { code, stderr } = await paylinkProcess(args, { cwd });
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /^error: PostgreSQL at 127\.0\.0\.1:1 cannot be reached/,
      ) as string,
    });
  });

  it('exits with 2 for a program that ends, and prints its error without its secrets', async () => {
    const error = 'Error: no module $WEBHOOK_SECRET $PAYLINK_API_KEY';
    const start = `echo "${error}" >&2; echo "Node.js v20" >&2; exit 3`;
    const args = ['--start', start, '--to', 'http://127.0.0.1:9/', '--books', 'true'];
    const { code, stderr } = await paylinkProcess(['torture', '--database', url, ...args]);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^error: The program ended, or does not listen at .*: Error: no module \[hidden\] \[hidden\]\n/,
    );
  });

  it('leaves no process of a whole program behind at Ctrl-C', async () => {
    const port = await freePort();
    const serve = `require('node:http').createServer(() => undefined).listen(${port})`;
    const running = start([
      ...['torture', '--start', `node -e "${serve}" | cat`, '--to', `http://127.0.0.1:${port}/`],
      ...['--database', url, '--books', `echo '{"paid":false}'`],
    ]);
    const processes = (): string =>
      execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
        .split('\n')
        .filter((line) => line.startsWith('node -e') && line.includes(String(port)))
        .join('\n');
    await expect.poll(processes).not.toBe('');
    running.child.kill('SIGINT');
    expect((await running.result()).code).toBe(130);
    await expect.poll(processes).toBe('');
  });

  it('leaves no process of the module behind at Ctrl-C', async () => {
    const args = ['torture', '--module', module, '--database', url];
    const running = start(args, { DESIGN: 'one write' }, cwd);
    const children = (): string =>
      execFileSync('ps', ['-eo', 'pid,ppid,args'], { encoding: 'utf8' })
        .split('\n')
        .filter((line) => line.includes('caller.js') && line.includes(module))
        .join('\n');
    await expect.poll(children).not.toBe('');
    running.child.kill('SIGINT');
    expect((await running.result()).code).toBe(130);
    await expect.poll(children).toBe('');
  });
});

/** Debian's own, which has Debian's driver. */
const PYTHON = '/usr/bin/python3';
const hasDriver = spawnSync(PYTHON, ['-c', 'import psycopg2']).status === 0;
if (!hasDriver && process.env['CI'])
  throw new Error('python3-psycopg2 is missing, and under CI no test may be left out');
if (!hasDriver) console.warn('SKIPPED: the program in Python, because python3-psycopg2 is missing');

describe.skipIf(!hasDriver)('paylink torture on a program in Python', { timeout: 240_000 }, () => {
  it.each([
    [
      'accepts a right credit',
      'right',
      0,
      [
        /^two simultaneous notifications, and 12 cuts: no/,
        /\nnot tested: two processes .* --module/,
      ],
    ],
    [
      'finds both faults of a broken credit',
      'broken',
      1,
      [/^The effect happens 2 times/, /\nThe effect is lost: it is written after the commit/],
    ],
  ] as const)('%s', { tags: ['Q20', 'I03'] }, async (_, credit, exitCode, sentences) => {
    const start = `${PYTHON} ${at('programs/program.py')}`;
    const { code, stdout, stderr } = await tortureProgram(start, url, credit);
    expect({ code, stderr }).toEqual({ code: exitCode, stderr: '' });
    for (const sentence of sentences) expect(stdout).toMatch(sentence);
    expect(stdout).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}/);
    expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain('program.py');
  });
});
