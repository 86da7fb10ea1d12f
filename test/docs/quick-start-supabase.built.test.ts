import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startPage } from '../../docs/.vitepress/start-pages.js';
import { startReader, stepsOf } from './quick-start.js';
import { startSupabaseProject } from './supabase/project.js';

it('leads a reader of the Supabase quick start to a credited payment, a schedule and a passing test', async () => {
  const { database, gatewayPort, command, close } = await startSupabaseProject();
  const page = startPage('en', 'supabase');
  const reader = await startReader({
    ports: { 54321: gatewayPort },
    packages: { 'supabase@2': command },
  });
  try {
    for (const step of stepsOf(page)) await reader.do(step);
    const paid = 'SELECT count(*)::int AS paid FROM orders WHERE paid_at IS NOT NULL';
    expect((await database.query<{ paid: number }>(paid)).rows[0]!.paid).toBeGreaterThan(0);

    // The schedule credits what the webhook missed. The settings are those of the page's own block.
    const text = await readFile(join(reader.folder, 'shop/supabase/functions/.env'), 'utf8');
    const cronSecret = /^CRON_SECRET=(.+)$/m.exec(text)![1]!;
    const [, vault = ''] = /^```sql production\n(.*?)^```$/ms.exec(page) ?? [];
    await database.query(
      vault
        .replace(/https:\/\/<your project>\.supabase\.co/, `http://127.0.0.1:${gatewayPort}`)
        .replace(/<CRON_SECRET[^>]*>/, cronSecret),
    );
    const { reference } = JSON.parse(
      await readFile(join(reader.folder, 'shop/order.json'), 'utf8'),
    ) as { reference: string };
    await database.query('UPDATE orders SET paid_at = NULL WHERE reference = $1', [reference]);
    const { rows: jobs } = await database.query<{ command: string }>(
      'SELECT command FROM cron.job',
    );
    await database.query(jobs[0]!.command);
    const { rows: calls } = await database.query<{ url: string; headers: Record<string, string> }>(
      'SELECT url, headers FROM net.requests',
    );
    const [{ url, headers } = { url: '', headers: {} }] = calls;
    expect((await fetch(url, { method: 'POST' })).status).toBe(401);
    const reply = await fetch(url, { method: 'POST', headers });
    expect(await reply.json()).toMatchObject({ credited: 1 });
  } finally {
    await reader.close();
    await close();
  }
}, 300_000);
