import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startEmulator, type Emulator } from '@paylink/emulator';
import type { Page } from 'playwright-core';
import { vi } from 'vitest';

/**
 * Starts an emulator for a shop that refuses the first `refusals` notifications with 503
 * `unknown_order`. Both end with the page's browser context.
 */
export async function openFailingShop(
  page: Page,
  { refusals, merchant }: { readonly refusals: number; readonly merchant?: string },
): Promise<Emulator> {
  let count = 0;
  const server = createServer((_, res) => {
    if (++count > refusals) res.end('{"received":true}');
    else
      res.writeHead(503, { 'content-type': 'application/json' }).end('{"error":"unknown_order"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const emulator = await startEmulator({
    merchant,
    webhook: { url: `http://127.0.0.1:${port}/webhooks/payments` },
    assumed: { firstRetryDelay: 1, longestRetryDelay: 1 },
  });
  page.context().once('close', () => {
    void emulator.close();
    server.close();
  });
  return emulator;
}

/** Waits until the newest notification has this number of attempts. */
export async function untilAttempts(emulator: Emulator, count: number): Promise<void> {
  await vi.waitUntil(() => (emulator.deliveries().at(-1)?.attemptCount ?? 0) >= count, {
    timeout: 10_000,
  });
}
