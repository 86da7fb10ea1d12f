/** The tests of the examples that are one server. */
import { createPayments, memoryOrders, type Payments } from '@paylink/payments';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';

export interface RunningServer {
  /** The address of the webhook. */
  readonly url: string;
  close(): Promise<unknown>;
}

/** @param start starts the example on a free port */
export function testServer(
  start: (options: {
    readonly secret: string;
    readonly payments: Payments;
  }) => Promise<RunningServer>,
): void {
  const { orders, add } = memoryOrders();
  const payments = createPayments({
    // The service: every payment succeeded.
    client: {
      getPayment: async (reference: string) => ({
        ...{ reference, amount: 1_500, currency: 'XOF', status: 'success' },
      }),
    },
    orders,
  });
  const isPaid = async (reference: string) =>
    (await payments.explain(reference)).order?.paid === true;
  for (const reference of ['order-42', 'order-43'])
    add({ reference, amount: 1_500, currency: 'XOF' });
  let server: RunningServer;
  beforeAll(async () => {
    server = await start({ secret: TEST_SECRET, payments });
  });
  afterAll(() => server.close());

  it('credits a genuine delivery once, however often it comes', async () => {
    const delivery = signedDelivery({ secret: TEST_SECRET, reference: 'order-42' });
    for (let time = 0; time < 3; time++) {
      const response = await delivery.send(server.url);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ received: true });
    }
    expect(await isPaid('order-42')).toBe(true);
  });

  it('refuses a forged delivery', async () => {
    const forged = signedDelivery({ secret: 'a-secret-of-nobody', reference: 'order-43' });
    const response = await forged.send(server.url);
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({ error: 'invalid_signature' });
    expect(await isPaid('order-43')).toBe(false);
  });
}
