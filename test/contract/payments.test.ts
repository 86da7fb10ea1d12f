import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Emulator } from '@paylink/emulator';
import {
  createLink,
  fixedLink,
  freeLink,
  isSuccess,
  newReference,
  readPayment,
} from './merchant.js';
import { announceLeftOut, isReal, openEmulator, openService, type Service } from './service.js';

const STATUSES = ['pending', 'success', 'failed', 'cancelled'];

let service: Service;
beforeAll(async () => {
  service = await openService();
});
afterAll(() => service.close());

describe.each([
  ['a fixed amount', fixedLink],
  ['a free amount', freeLink],
])('4.2 reading the payment of a link for %s', (_, request) => {
  const fields = request();
  let body: unknown;
  beforeAll(async () => {
    expect((await createLink(service, fields)).status).toBe(201);
    const answer = await readPayment(service, fields.reference);
    expect(isSuccess(answer)).toBe(true);
    body = answer.body;
  });

  it('4.2 finds the payment by its reference', () => {
    expect(body).toMatchObject({ reference: fields.reference });
  });

  it('4.2 returns one of the four statuses', () => {
    expect(STATUSES).toContain((body as { status: unknown }).status);
  });

  it('3 returns pending before the customer acts', () => {
    expect(body).toMatchObject({ status: 'pending' });
  });

  it('2.3 returns a string type', () => {
    expect(body).toMatchObject({ type: expect.any(String) as string });
  });

  it('2.3 has the currency XOF', () => {
    expect(body).toMatchObject({ currency: 'XOF' });
  });
});

// The contract leaves open the amount of a free-amount payment before the customer's choice.
it('2.3 reading a payment returns its fixed amount as an integer', async () => {
  const fields = fixedLink();
  await createLink(service, fields);
  expect((await readPayment(service, fields.reference)).body).toMatchObject({
    amount: fields.amount,
  });
});

// packages/emulator/test/notifications.test.ts holds section 6 on the emulator.
announceLeftOut(
  'section 6, notifications (the webhook URL is registered in the merchant portal, which has no API)',
);
announceLeftOut(
  'section 3, the statuses success, failed and cancelled (nothing is paid, and nothing can be made to fail)',
);

describe.skipIf(isReal)('3 the states, on the emulator', () => {
  let emulator: Emulator;
  beforeAll(async () => {
    emulator = await openEmulator();
  });
  afterAll(() => emulator?.close());

  it.each([
    ['success', 'pay'],
    ['failed', 'fail'],
    ['cancelled', 'cancel'],
  ] as const)('3 have the status %s', async (status, end) => {
    const reference = newReference();
    await createLink(emulator, fixedLink({ reference }));
    await emulator[end](reference);
    expect((await readPayment(emulator, reference)).body).toMatchObject({
      reference,
      status,
      currency: 'XOF',
      amount: 100,
    });
  });

  it('2.3 include the paid free amount as the integer that the customer chose', async () => {
    const fields = freeLink();
    await createLink(emulator, fields);
    await emulator.pay(fields.reference, { amount: 123 });
    expect((await readPayment(emulator, fields.reference)).body).toMatchObject({
      amount: 123,
      status: 'success',
    });
  });
});
