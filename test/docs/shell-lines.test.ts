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

/** A merchant's shop, its service with a paid order, and its developer's folder. */
async function openShop() {
  const emulator = await startEmulator();
  onTestFinished(() => emulator.close());
  const paylink = createClient({ baseUrl: emulator.baseUrl, apiKey: emulator.apiKey });
  await paylink.createPaymentLink({ amount: 15_000, reference: 'order-42' });
  await emulator.pay('order-42');
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

const lineOf = async (page: string, command: string): Promise<string> => {
  const lines = (await blockOf(page, `npx --no-install paylink ${command}`)).split('\n');
  return lines.find((line) => line.includes(command))!;
};

describe('the shell lines of the pages', () => {
  it.each(['docs/runbook.md', 'AGENTS.md'])(
    'pass a correct webhook and credit no order: %s',
    async (page) => {
      const { url, folder, credited } = await openShop();
      const { code, output } = await run(await lineOf(page, 'doctor'), url, folder);
      expect(output).toMatch(/ok +secret [^]*\nnothing wrong was found\n$/);
      // One payment of no order, which a proxy that turns a 503 into 200 would acknowledge.
      const isOfNone = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;
      expect([code, credited.filter((reference) => !isOfNone.test(reference))]).toEqual([0, []]);
    },
  );

  it('read a payment from the service: docs/runbook.md', async () => {
    const { url, folder } = await openShop();
    const line = await lineOf('docs/runbook.md', 'payments get');
    const { code, output } = await run(line, url, folder);
    expect(output).toMatch(/order-42\n[^]*success/);
    expect(code).toBe(0);
  });

  it('name the cause of a changed body without the secret: docs/runbook.md', async () => {
    const { url, folder } = await openShop();
    const { headers } = signedDelivery({ secret: SECRET, rawBody: '{"reference": "order-42"}' });
    writeFileSync(join(folder, 'body.bin'), '{"reference":"order-42"}');
    const line = await lineOf('docs/runbook.md', 'diagnose');
    const { output } = await run(line, url, folder, {
      SIGNATURE: headers['x-service-signature']!,
    });
    expect(output).toContain('body_reserialized');
    expect(output).not.toContain(SECRET);
  });

  it.each([
    ['docs/going-live.md', 'doctor'],
    ['docs/diagnose.md', 'diagnose'],
  ])('are those of docs/runbook.md: %s, %s', async (page, command) => {
    expect(await lineOf(page, command)).toBe(await lineOf('docs/runbook.md', command));
  });
});
