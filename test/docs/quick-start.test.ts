import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres } from '../servers/postgres.js';
import { packAll } from '../packaging/pack.js';
import { startReader, stepsOf } from './quick-start.js';

const pages = new URL('../../docs/start/', import.meta.url);
const all = (await readdir(pages)).map((file) => file.replace(/\.md$/, ''));
const asked = process.env['PAYLINK_QUICK_STARTS'] ?? 'express,hono';
const chosen = asked === 'all' ? all : asked.split(',');

describe('a quick start in an empty folder', () => {
  let folder: string;
  let tarballs: Record<string, string>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'paylink-tarballs-'));
    tarballs = packAll(folder);
  }, 180_000);

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(chosen)(
    'leads to a verified and credited payment and a passing test: %s',
    async (page) => {
      const steps = stepsOf(await readFile(new URL(`${page}.md`, pages), 'utf8'));
      const database = await startPostgres({ fsync: 'off' });
      const reader = await startReader({ tarballs }, database.url);
      try {
        for (const step of steps) await reader.do(step);
        const books = new Client({ connectionString: database.url });
        await books.connect();
        const { rows } =
          await books.query(`SELECT count(*)::int AS paid, count(key)::int AS marked FROM orders
          LEFT JOIN paylink_marks ON key = sha256(convert_to('payment.succeeded:' || reference, 'UTF8')) WHERE paid_at IS NOT NULL`);
        await books.end();
        // The page's order, and the two that its tests credit.
        expect(rows).toEqual([{ paid: 3, marked: 3 }]);
      } finally {
        await reader.close();
        await database.close();
      }
    },
    300_000,
  );
});
