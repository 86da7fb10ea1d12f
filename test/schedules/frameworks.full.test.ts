/** `paylink torture` on programs of three frameworks, each with a right and a broken credit. */
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { openMariaDb, openPostgres } from './engines.js';
import { at, tortureProgram } from './programs.js';

const TSX = `${process.execPath} --import tsx`;
const NEXT = `${process.execPath} ${at('../node_modules/next/dist/bin/next')}`;
const NEXT_APP = at('programs/next');
const TABLES = `CREATE TABLE orders (reference varchar(64) PRIMARY KEY, amount bigint,
    currency varchar(3), created_at timestamp NULL, paid_at timestamp NULL);
  CREATE TABLE receipts (reference varchar(64))`;

async function buildNext(): Promise<void> {
  onTestFinished(() => rm(`${NEXT_APP}/.next`, { recursive: true, force: true }));
  await promisify(execFile)('sh', ['-c', `${NEXT} build --webpack`], {
    cwd: NEXT_APP,
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1' },
  });
}

const nothing = () => Promise.resolve();

it.each([
  [
    'Express with pg',
    openPostgres,
    nothing,
    `${TSX} ${at('programs/express.ts')}`,
    /^The effect is lost: it is written after the commit/,
  ],
  [
    'Nest with TypeORM on MariaDB',
    openMariaDb,
    nothing,
    `${TSX} ${at('programs/nest.ts')}`,
    /^The effect is lost: it is written after the commit/,
  ],
  [
    'Next.js with Prisma',
    openPostgres,
    buildNext,
    `${NEXT} start ${NEXT_APP} -H 127.0.0.1 -p $PORT`,
    /^The effect happens 2 times/,
  ],
] as const)(
  'accepts a right credit of %s, and tells the fault of a broken one',
  { tags: ['Q20', 'I03'], timeout: 600_000 },
  async (_, open, build, start, fault) => {
    const [database] = await Promise.all([open(TABLES), build()]);
    onTestFinished(() => database.close());
    for (const credit of ['right', 'broken'] as const) {
      const { code, stdout, stderr } = await tortureProgram(start, database.url, credit);
      expect(stdout).toMatch(
        credit === 'right' ? /^two simultaneous notifications, and \d+ cuts: no fault/ : fault,
      );
      expect({ code, stderr }).toEqual({ code: credit === 'right' ? 0 : 1, stderr: '' });
    }
  },
);
