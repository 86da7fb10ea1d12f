/** `paylink torture` on a program in Python and PostgreSQL: cuts, kills and restarts. */
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { paylinkProcess, type Result } from '../../packages/cli/test/paylink.js';
import { freePort } from '../servers/starting.js';
import { url } from './postgres.js';

const PROGRAM = fileURLToPath(new URL('shops/program.py', import.meta.url));
/** Debian's own, which has Debian's driver. */
const PYTHON = '/usr/bin/python3';
const hasDriver = spawnSync(PYTHON, ['-c', 'import psycopg2']).status === 0;
if (!hasDriver && process.env['CI'])
  throw new Error('python3-psycopg2 is missing, and under CI no test may be left out');
if (!hasDriver) console.warn('SKIPPED: the program in Python, because python3-psycopg2 is missing');

async function torture(kind: 'right' | 'broken', ...more: string[]): Promise<Result> {
  const port = await freePort();
  const run = `${PYTHON} ${PROGRAM}`;
  const result = await paylinkProcess([
    ...['torture', '--start', `${run} ${kind} ${port}`, '--to', `http://127.0.0.1:${port}/`],
    ...['--database', url, '--order', `${run} order`, '--books', `${run} books`],
    ...['--time-limit', '3m', ...more],
  ]);
  const left = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
  expect(left).not.toContain(`program.py ${kind} ${port}`);
  return result;
}

describe.skipIf(!hasDriver)('paylink torture on a program in Python', () => {
  it('accepts a right credit', { tags: ['Q20', 'I03'], timeout: 240_000 }, async () => {
    const { code, stdout, stderr } = await torture('right');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^two simultaneous notifications, and 12 cuts: no fault/);
  });

  it(
    'finds both faults of a broken credit',
    { tags: ['Q20', 'I03'], timeout: 240_000 },
    async () => {
      const { code, stdout } = await torture('broken');
      expect(code).toBe(1);
      expect(stdout).toMatch(/^The effect happens 2 times/);
      expect(stdout).toMatch(/\nThe effect is lost: it is written after the commit/);
      expect(stdout).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}/);
    },
  );

  it('exits with 2 for a program that ends', async () => {
    const args = ['--start', 'exit 3', '--to', 'http://127.0.0.1:9/', '--books', 'true'];
    const { code, stderr } = await paylinkProcess(['torture', '--database', url, ...args]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: The program ended, or does not listen/);
  });
});
