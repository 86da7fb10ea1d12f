import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Emulator } from '@paylink/emulator';
import { createLink, fixedLink, newReference } from './merchant.js';
import { announceLeftOut, isReal, openEmulator } from './service.js';
import { startWebhook, type Notification, type Webhook } from './webhook.js';

announceLeftOut(
  'section 6, notifications (the webhook URL is registered in the merchant portal, which has no API)',
);

describe.skipIf(isReal)('6 notifications, on the emulator', () => {
  let webhook: Webhook;
  let emulator: Emulator;
  beforeEach(async () => {
    webhook = await startWebhook();
    emulator = await openEmulator(webhook.url);
  });
  afterEach(async () => {
    await emulator?.close();
    await webhook.close();
  });

  async function pay(reference = newReference()): Promise<Notification> {
    await createLink(emulator, fixedLink({ reference }));
    await emulator.pay(reference);
    const isOfIt = ({ body }: Notification): boolean =>
      (JSON.parse(body.toString()) as { reference: unknown }).reference === reference;
    return vi.waitUntil(() => webhook.notifications.find(isOfIt), { timeout: 10_000 });
  }

  it('6 are sent as an HTTP POST to the registered URL', async () => {
    expect(await pay()).toMatchObject({ method: 'POST', path: new URL(webhook.url).pathname });
  });

  it('6 name the kind payment.succeeded in X-Service-Event', async () => {
    expect((await pay()).headers['x-service-event']).toBe('payment.succeeded');
  });

  it('6 have a JSON body with the merchant’s reference', async () => {
    const reference = newReference();
    expect(JSON.parse((await pay(reference)).body.toString())).toMatchObject({ reference });
  });

  it('6 rule 1 are signed with the lowercase hexadecimal HMAC-SHA256 of the raw body under the webhook secret', async () => {
    const { headers, body } = await pay();
    expect(headers['x-service-signature']).toMatch(/^[0-9a-f]{64}$/);
    const expected = createHmac('sha256', emulator.webhookSecret).update(body).digest('hex');
    expect(headers['x-service-signature'] === expected).toBe(true);
  });

  it('6 rule 3 are signed over the sent bytes, also if they are not ASCII', async () => {
    const { headers, body } = await pay(`${newReference()} café “№ 7” 🧺`);
    const expected = createHmac('sha256', emulator.webhookSecret).update(body).digest('hex');
    expect(headers['x-service-signature'] === expected).toBe(true);
  });

  it('6 are sent for a success, but not for a new link, a failure or a cancellation', async () => {
    const [created, failed, cancelled] = [newReference(), newReference(), newReference()];
    for (const reference of [created, failed, cancelled])
      await createLink(emulator, fixedLink({ reference }));
    await emulator.fail(failed);
    await emulator.cancel(cancelled);
    // Notifications of the earlier actions would precede this one.
    await pay();
    expect(webhook.notifications).toHaveLength(1);
    expect(emulator.deliveries()).toHaveLength(1);
  });
});
