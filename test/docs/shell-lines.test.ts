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
import { run, start } from './shell.js';

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
    ['docs/runbook.md', 'npx paylink doctor'],
    ['docs/going-live.md', 'npx paylink doctor'],
    ['AGENTS.md', 'paylink doctor'],
  ])('pass a correct webhook and credit nothing: %s', async (page, command) => {
    const { url, folder, credited } = await openShop();
    const [line] = await linesOf(page, command);
    const { code, output } = await run(line!, url, folder);
    expect(output).toMatch(
      /ok {2}secret {9}is the same on both sides\n[^]*\nnothing wrong was found\n$/,
    );
    expect([code, credited]).toEqual([0, []]);
  });

  it('read a payment from the service: docs/runbook.md', async () => {
    const { url, folder } = await openShop();
    const [, line] = await linesOf('docs/runbook.md', 'npx paylink payments get');
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

  it('forward deliveries of a tunnel byte for byte: docs/going-live.md', async () => {
    const { url, folder, credited } = await openShop();
    const [line] = await linesOf('docs/going-live.md', 'npx paylink listen');
    // The default port may be taken.
    const listening = start(`${line!} --port 0`, url, folder);
    const [, tunnel] = await listening.until(/Listening at (\S+),/);
    expect(
      (await signedDelivery({ secret: SECRET, reference: 'order-42' }).send(tunnel!)).status,
    ).toBe(200);
    expect(credited).toEqual(['order-42']);
    listening.end();
    await listening.closed;
  });
});

/** Returns the commands of a session in packages/cli/README.md, each with its output. */
async function sessionWith(command: string): Promise<{ line: string; shown: string }[]> {
  const session = await blockOf('packages/cli/README.md', `$ ${command}`);
  return session
    .split(/^\$ /m)
    .slice(1)
    .map((part) => ({ line: part.split('\n', 1)[0]!, shown: part.slice(part.indexOf('\n') + 1) }));
}

/** Matches a session's output, except for times, addresses, tokens and secrets. */
function like(shown: string): RegExp {
  const pattern = shown
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll('…', '.*')
    .replace(/ +\d+ ms */g, ' +\\d+ ms *')
    .replace(/\b[0-9a-f]{8,64}\b/g, '[0-9a-f]+')
    .replace(/sk_live_[0-9a-f]+/g, 'sk_live_[0-9a-f]+')
    .replace(/(?:localhost|127\\\.0\\\.0\\\.1):\d+/g, '127\\.0\\.0\\.1:\\d+')
    .replace(/link\/\S+/g, 'link/\\S+');
  return new RegExp(`^${pattern}$`);
}

describe('a session in packages/cli/README.md', () => {
  it.each([
    ['links create', 'none'],
    ['payments get', 'pending'],
    ['pay order-42', 'pending'],
    ['trigger', 'paid'],
    ['doctor', 'paid'],
  ] as const)('prints the shown output: paylink %s', async (command, order) => {
    const { url, folder } = await openShop({ order });
    for (const { line, shown } of await sessionWith(`paylink ${command}`)) {
      const { code, output } = await run(
        line.includes('--dotenv') ? line : `${line} --dotenv .env`,
        url,
        folder,
      );
      expect(output).toMatch(like(shown));
      expect(code).toBe(0);
    }
  });

  it('prints the shown output until it waits: paylink emulate', async () => {
    const { url } = await openShop({ order: 'none' });
    const [session] = await sessionWith('paylink emulate');
    // The default port may be taken. In a folder without a .env, the emulator makes its secrets.
    const running = start(`${session!.line} --port 0`, url, newFolder());
    await running.until(/Ctrl-C stops it\.\n/);
    const [untilItWaits] = /^[^]*Ctrl-C stops it\.\n/.exec(session!.shown)!;
    expect(running.output()).toMatch(like(untilItWaits));
    running.end();
    await running.closed;
  });

  it('prints the shown output: paylink diagnose', async () => {
    const { url, folder } = await openShop({ order: 'none' });
    const { headers } = signedDelivery({ secret: SECRET, rawBody: '{"reference": "order-42"}' });
    writeFileSync(join(folder, 'body.json'), '{"reference":"order-42"}');
    const [session] = await sessionWith('paylink diagnose');
    const { output } = await run(session!.line, url, folder, {
      SIGNATURE: headers['x-service-signature']!,
    });
    expect(output).toMatch(like(session!.shown));
  });

  it('prints the shown output: paylink sign', async () => {
    const { url, folder } = await openShop({ order: 'none' });
    for (const { line, shown } of await sessionWith('printf')) {
      const { code, output } = await run(line, url, folder, { WEBHOOK_SECRET: SECRET });
      expect(output).toMatch(like(shown));
      expect(code).toBe(0);
    }
  });
});
