import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOSTS, startPage } from '../../docs/.vitepress/start-pages.js';
import { packAll } from '../packaging/pack.js';
import { startReader, stepsOf } from './quick-start.js';

const asked = process.env['PAYLINK_QUICK_STARTS'] ?? 'express,hono';
// quick-start-supabase.test.ts reads the other one.
const onSqlite = HOSTS.filter((host) => host !== 'supabase');
const chosen = asked === 'all' ? onSqlite : asked.split(',');

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
    async (host) => {
      const reader = await startReader({ tarballs });
      try {
        for (const step of stepsOf(await startPage('en', host))) await reader.do(step);
        const books = new Database(join(reader.folder, 'shop/shop.db'));
        // The page's order. Its tests have a database of their own.
        expect(
          books.prepare('SELECT count(*) AS paid FROM orders WHERE paid_at IS NOT NULL').get(),
        ).toMatchObject({ paid: 1 });
        books.close();
      } finally {
        await reader.close();
      }
    },
    300_000,
  );
});
