import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AUTHENTICATIONS, createLink, fixedLink, isSuccess, readPayment } from './merchant.js';
import { announceLeftOut, isReal, openEmulator, openService, type Service } from './service.js';

let service: Service;
beforeAll(async () => {
  service = await openService();
});
afterAll(() => service.close());

// A valid form with its own identifier, so that no real key gets locked.
const WRONG_KEY = 'sk_live_paylinkcontractsuite.not-a-key-of-anybody';

describe.each(Object.entries(AUTHENTICATIONS))('5 %s', (_, headersFor) => {
  it('5.2 is accepted when it creates and reads', async () => {
    const fields = fixedLink();
    expect((await createLink(service, fields, headersFor(service.apiKey))).status).toBe(201);
    expect(
      isSuccess(await readPayment(service, fields.reference, headersFor(service.apiKey))),
    ).toBe(true);
  });

  it('5.1 is refused with an unknown key', async () => {
    const fields = fixedLink();
    expect((await createLink(service, fields, headersFor(WRONG_KEY))).status).not.toBe(201);
    expect((await createLink(service, fields)).status).toBe(201);
    expect(isSuccess(await readPayment(service, fields.reference, headersFor(WRONG_KEY)))).toBe(
      false,
    );
  });
});

describe('5 the key', () => {
  it('5.1 has the form sk_live_, an identifier, a dot, and a secret part', () => {
    // Not a matcher, which would print the key.
    expect(/^sk_live_[^.\s]+\.\S+$/.test(service.apiKey)).toBe(true);
  });

  it('4 is required on every request', async () => {
    const fields = fixedLink();
    expect((await createLink(service, fields, {})).status).not.toBe(201);
    expect((await createLink(service, fields)).status).toBe(201);
    expect(isSuccess(await readPayment(service, fields.reference, {}))).toBe(false);
  });

  announceLeftOut(
    'section 5.4, that the webhook secret is not the API key (the API does not tell the secret)',
  );

  it.skipIf(isReal)('5.4 differs from the webhook secret', async () => {
    const emulator = await openEmulator('http://127.0.0.1:9/');
    try {
      expect(emulator.webhookSecret === emulator.apiKey).toBe(false);
      const headers = { Authorization: `Bearer ${emulator.webhookSecret}` };
      expect((await createLink(emulator, fixedLink(), headers)).status).not.toBe(201);
    } finally {
      await emulator.close();
    }
  });
});
