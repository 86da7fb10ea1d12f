/** The shell's lines of the pages, run by a shell as they stand there: `npx paylink` is the command from its sources. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { RequestListener } from 'node:http';
import { createClient } from '@paylink/client';
import { startEmulator } from '@paylink/emulator';
import { paymentWebhook } from '@paylink/express';
import { signedDelivery } from '@paylink/testing';
import express from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { COMMAND, newFolder } from '../../packages/cli/test/paylink.js';
import { blockOf, serve } from './blocks.js';

const SECRET = 'the secret of the portal';

/** A merchant's shop, its service, and the folder that its developer works in. */
async function openShop() {
  const emulator = await startEmulator();
  onTestFinished(() => emulator.close());
  const paylink = createClient({ baseUrl: emulator.baseUrl, apiKey: emulator.apiKey });
  await paylink.createPaymentLink({ amount: 15_000, reference: 'order-42' });
  await emulator.pay('order-42');
  const credited: string[] = [];
  const webhook = paymentWebhook({ secret: SECRET }, async ({ reference }) => void credited.push(reference));
  const url = await serve(express().post('/webhooks/payments', webhook) as RequestListener);
  const folder = newFolder();
  writeFileSync(
    join(folder, '.env'),
    `WEBHOOK_SECRET="${SECRET}"\nPAYLINK_BASE_URL=${emulator.baseUrl}\nPAYLINK_API_KEY=${emulator.apiKey}\n`,
  );
  return { url, folder, credited };
}

/** Starts a line as its reader would, on a shop that stands where the page's does. */
function start(line: string, url: string, folder: string, env: Readonly<Record<string, string>> = {}) {
  writeFileSync(join(folder, 'npx'), `#!/bin/sh\nshift\nexec "${process.execPath}" "${COMMAND}" "$@"\n`, { mode: 0o755 });
  const command = line.replace(/https?:\/\/(?:your-shop\.example|localhost:3000)\/webhooks\/payments/, url);
  const path = [folder, dirname(process.execPath), process.env['PATH']].join(delimiter);
  // A group of its own, so that the command ends with the shell.
  const child = spawn('bash', ['-euo', 'pipefail', '-c', command], {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: path, ...env } as unknown as NodeJS.ProcessEnv,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (output += piece.toString()));
  const closed = once(child, 'close').then(([code]) => code as number | null);
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGKILL');
  });
  return {
    output: () => output,
    closed,
    async until(pattern: RegExp): Promise<RegExpExecArray> {
      for (;;) {
        const match = pattern.exec(output);
        if (match !== null) return match;
        const next = await Promise.race([once(child.stdout, 'data'), closed.then(() => 'closed')]);
        if (next === 'closed' && !pattern.test(output)) throw new Error(`it ended without ${pattern}: ${output}`);
      }
    },
    end: () => process.kill(-child.pid!, 'SIGTERM'),
  };
}

async function run(...args: Parameters<typeof start>): Promise<{ code: number | null; output: string }> {
  const running = start(...args);
  const code = await running.closed;
  return { code, output: running.output() };
}

const linesOf = async (page: string, containing: string): Promise<string[]> => (await blockOf(page, containing)).trim().split('\n');

describe('the shell lines of the pages', () => {
  it.each([
    ['docs/runbook.md', 'paylink doctor'],
    ['docs/going-live.md', 'paylink doctor'],
    ['AGENTS.md', 'paylink doctor'],
  ])('find nothing wrong with a sound webhook, and credit nothing: %s', async (page, command) => {
    const { url, folder, credited } = await openShop();
    const [line] = await linesOf(page, command);
    const { code, output } = await run(line!, url, folder);
    expect(output).toMatch(/ok {2}secret {9}is the same on both sides\n[^]*\nnothing wrong was found\n$/);
    expect([code, credited]).toEqual([0, []]);
  });

  it('read what the service says of a payment: docs/runbook.md', async () => {
    const { url, folder } = await openShop();
    const [, line] = await linesOf('docs/runbook.md', 'paylink payments get');
    const { code, output } = await run(line!, url, folder);
    expect(output).toMatch(/order-42\n[^]*success/);
    expect(code).toBe(0);
  });

  it.each(['docs/runbook.md', 'docs/diagnose.md'])('name what changed the body, and not the secret: %s', async (page) => {
    const { url, folder } = await openShop();
    const line = (await linesOf(page, 'diagnose')).find((each) => each.includes('diagnose'));
    const { headers } = signedDelivery({ secret: SECRET, rawBody: '{"reference": "order-42"}' });
    writeFileSync(join(folder, 'body.bin'), '{"reference":"order-42"}');
    const { output } = await run(line!, url, folder, { SIGNATURE: headers['x-service-signature']! });
    expect(output).toContain('body_reserialized');
    expect(output).not.toContain(SECRET);
  });

  it('forward what a tunnel brings, byte for byte: docs/going-live.md', async () => {
    const { url, folder, credited } = await openShop();
    const [line] = await linesOf('docs/going-live.md', 'paylink listen');
    // Its own port may be taken.
    const listening = start(`${line!} --port 0`, url, folder);
    const [, tunnel] = await listening.until(/Listening at (\S+),/);
    expect((await signedDelivery({ secret: SECRET, reference: 'order-42' }).send(tunnel!)).status).toBe(200);
    expect(credited).toEqual(['order-42']);
    listening.end();
    await listening.closed;
  });
});
