import type { RequestListener } from 'node:http';
import express, { type RequestHandler } from 'express';
import { signedDelivery } from '@paylink/testing';
import { expect, it, vi } from 'vitest';
import { blockOf, runBlock, serve } from './blocks.js';

const NEW = 'the secret that the portal shows now';
const OLD = 'the secret that it showed until today';

/**
 * Serves the webhook of docs/going-live.md, and returns its answers to notifications under these
 * secrets.
 */
async function answers(
  env: Record<string, string | undefined>,
  secrets: readonly string[],
): Promise<[number[], string[]]> {
  const credited: string[] = [];
  const { webhook } = (await runBlock(await blockOf('docs/going-live.md', 'WEBHOOK_SECRET_OLD'), {
    env: {
      WEBHOOK_SECRET: undefined,
      WEBHOOK_SECRET_OLD: undefined,
      NODE_ENV: 'production',
      ...env,
    },
    declared: {
      payments: {
        receive: async ({ reference }: { reference: string }) => {
          credited.push(reference);
          return { outcome: 'handled' };
        },
      },
    },
  })) as { webhook: RequestHandler };
  const url = await serve(express().post('/webhooks/payments', webhook) as RequestListener);
  const statuses: number[] = [];
  for (const [index, secret] of secrets.entries()) {
    statuses.push((await signedDelivery({ secret, reference: `order-${index}` }).send(url)).status);
  }
  return [statuses, credited];
}

it('the rotation of docs/going-live.md accepts both secrets and logs the old secret', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  const [statuses, credited] = await answers({ WEBHOOK_SECRET: NEW, WEBHOOK_SECRET_OLD: OLD }, [
    NEW,
    OLD,
    'neither of them',
  ]);
  expect(statuses).toEqual([200, 200, 401]);
  expect(credited).toEqual(['order-0', 'order-1']);
  expect(log.mock.calls).toEqual([['a notification still uses the old secret']]);
  log.mockRestore();
});

it('the rotation of docs/going-live.md ends if you remove the old secret', async () => {
  expect(await answers({ WEBHOOK_SECRET: NEW }, [NEW, OLD])).toEqual([[200, 401], ['order-0']]);
});

it('the rotation of docs/going-live.md requires the current secret', async () => {
  await expect(answers({}, [])).rejects.toThrow(/secret/);
  await expect(answers({ WEBHOOK_SECRET_OLD: OLD }, [])).rejects.toThrow(/secret/);
});
