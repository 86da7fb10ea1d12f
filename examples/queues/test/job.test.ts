import { paymentWebhook } from '@paylink/fetch';
import { createPayments, memoryStore } from '@paylink/payments';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { afterEach, expect, it, vi } from 'vitest';
import { fromJob, toJob } from '../src/job.js';
import { paid } from './paid.js';

const polluted = Object.prototype as { tenant?: string };
afterEach(() => {
  delete polluted.tenant;
});

const job = { type: 'payment.succeeded', reference: 'order-42' };

it('a failed job is in the inbox with a body that the webhook accepts', async () => {
  const keep = vi.fn<(failed: { rawBody: Uint8Array }) => Promise<void>>(async () => undefined);
  const inbox = { keep, discard: async () => undefined };
  const credit = (): number => 0;
  const store = { ...memoryStore(), inbox: inbox as never };
  const payments = createPayments({ client: paid, store, credit });
  await expect(payments.receive(fromJob(job))).rejects.toMatchObject({ code: 'not_credited' });
  await vi.waitFor(() => expect(keep).toHaveBeenCalledOnce());
  const { rawBody } = keep.mock.calls[0]![0];
  const jobs: unknown[] = [];
  const webhook = paymentWebhook({ secret: TEST_SECRET }, (event) => void jobs.push(toJob(event)));
  const replay = signedDelivery({ secret: TEST_SECRET, rawBody });
  expect((await webhook(replay.toRequest('http://localhost/webhooks/payments'))).status).toBe(200);
  expect(jobs).toEqual([job]);
});

it('a job has no tenant of a polluted Object.prototype', () => {
  polluted.tenant = 'mallory';
  expect(Object.hasOwn(fromJob(job), 'tenant')).toBe(false);
});
