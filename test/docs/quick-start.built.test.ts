import { join } from 'node:path';
import Database from 'libsql';
import { expect, it } from 'vitest';
import { HOSTS, startPage } from '../../docs/.vitepress/start-pages.js';
import { startReader, stepsOf } from './quick-start.js';

const asked = process.env['PAYLINK_QUICK_STARTS'] ?? 'express';
// quick-start-supabase.built.test.ts reads the other one.
const onSqlite = HOSTS.filter((host) => host !== 'supabase');
const chosen = asked === 'all' ? onSqlite : asked.split(',');

it.each(chosen)(
  'a quick start leads from an empty folder to a credited payment and a passing test: %s',
  async (host) => {
    const reader = await startReader();
    try {
      for (const step of stepsOf(startPage('en', host))) await reader.do(step);
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
