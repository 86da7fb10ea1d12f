/** Runs the pages' shell lines unchanged. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RequestListener } from 'node:http';
import { createClient } from '@paylink/client';
import { startEmulator } from '@paylink/emulator';
import { paymentWebhook } from '@paylink/express';
import { signedDelivery } from '@paylink/testing';
import express from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { newFolder } from '../../packages/cli/test/paylink.js';
import { blockOf, serve } from './blocks.js';
import { run } from './shell.js';

const SECRET = 'the secret of the portal';

/** A merchant's shop, its service, and its developer's folder. Default: a paid order. */
async function openShop({ order = 'paid' }: { order?: 'paid' | 'pending' | 'none' } = {}) {
  const emulator = await startEmulator();
  onTestFinished(() => emulator.close());
  const paylink = createClient({ baseUrl: emulator.baseUrl, apiKey: emulator.apiKey });
  if (order !== 'none') await paylink.createPaymentLink({ amount: 15_000, reference: 'order-42' });
  if (order === 'paid') await emulator.pay('order-42');
  const credited: string[] = [];
  const webhook = paymentWebhook(
    { secret: SECRET },
    async ({ reference }) => void credited.push(reference),
  );
  const url = await serve(express().post('/webhooks/payments', webhook) as RequestListener);
  const folder = newFolder();
  writeFileSync(
    join(folder, '.env'),
    `WEBHOOK_SECRET="${SECRET}"\nPAYLINK_BASE_URL=${emulator.baseUrl}\nPAYLINK_API_KEY=${emulator.apiKey}\n`,
  );
  return { url, folder, credited };
}

const linesOf = async (page: string, containing: string): Promise<string[]> =>
  (await blockOf(page, containing)).trim().split('\n');

describe('the shell lines of the pages', () => {
  it.each([
    ['docs/runbook.md', 'npx --no-install paylink doctor'],
    ['docs/going-live.md', 'npx --no-install paylink doctor'],
    ['AGENTS.md', 'npx --no-install paylink doctor'],
  ])('pass a correct webhook and credit no order: %s', async (page, command) => {
    const { url, folder, credited } = await openShop();
    const [line] = await linesOf(page, command);
    const { code, output } = await run(line!, url, folder);
    expect(output).toMatch(/ok +secret [^]*\nnothing wrong was found\n$/);
    // One payment of no order, which a proxy that turns a 503 into 200 would acknowledge.
    const ofOrders = credited.filter((reference) => !/^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(reference));
    expect([code, ofOrders]).toEqual([0, []]);
  });

  it('read a payment from the service: docs/runbook.md', async () => {
    const { url, folder } = await openShop();
    const [line] = await linesOf('docs/runbook.md', 'npx --no-install paylink payments get');
    const { code, output } = await run(line!, url, folder);
    expect(output).toMatch(/order-42\n[^]*success/);
    expect(code).toBe(0);
  });

  it.each(['docs/runbook.md', 'docs/diagnose.md'])(
    'name the cause of a changed body without the secret: %s',
    async (page) => {
      const { url, folder } = await openShop();
      const line = (await linesOf(page, 'diagnose')).find((each) => each.includes('diagnose'));
      const { headers } = signedDelivery({ secret: SECRET, rawBody: '{"reference": "order-42"}' });
      writeFileSync(join(folder, 'body.bin'), '{"reference":"order-42"}');
      const { output } = await run(line!, url, folder, {
        SIGNATURE: headers['x-service-signature']!,
      });
      expect(output).toContain('body_reserialized');
      expect(output).not.toContain(SECRET);
    },
  );
});
