import { synchronous } from '#hmac';
import { describe, expect, it } from 'vitest';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { isPromise } from '../src/deadline.js';
import { createProver } from '../src/prover.js';
import type { SecretOption } from '../src/index.js';

const { rawBody, signature } = signedDelivery();
const logger = { warn: () => undefined, error: () => undefined };
const prove = (secret: SecretOption) =>
  createProver({ secret }, logger, 'refuse').prove(rawBody, signature, 'payment.succeeded', undefined);

describe('a proven event', () => {
  it('is given at once where the engine hashes at once, since a promise costs a small body a tenth of its time', async () => {
    const proven = prove(TEST_SECRET);
    expect(isPromise(proven)).toBe(!synchronous);
    expect(await proven).toMatchObject({ event: { reference: 'order-42' } });
  });

  it('comes later where the secret does', async () => {
    const proven = prove(() => Promise.resolve(TEST_SECRET));
    expect(isPromise(proven)).toBe(true);
    expect(await proven).toMatchObject({ event: { reference: 'order-42' } });
  });
});
