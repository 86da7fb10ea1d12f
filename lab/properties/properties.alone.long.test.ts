/**
 * Tries a few cases of each property, and a broken subject that each property must find.
 * `pnpm lab properties` tries more.
 */
import { randomUUID } from 'node:crypto';
import { createClient } from '@paylink/client';
import { verifySignature } from '@paylink/core';
import { createPayments } from '@paylink/payments';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactSignature } from './exact-signature.js';
import { linearizableOrders } from './linearizable.js';
import { oneLink } from './one-link.js';

const RUNS = { numRuns: 500 };

describe('accepted if and only if it is the exact MAC', () => {
  it('holds', () => fc.assert(exactSignature(), RUNS));

  it('finds a verifier that accepts upper case', async () => {
    const property = exactSignature((body, signature, secret) =>
      verifySignature(
        body,
        typeof signature === 'string' ? signature.toLowerCase() : signature,
        secret,
      ),
    );
    expect((await fc.check(property, RUNS)).failed).toBe(true);
  });

  it('finds a verifier that looks at the first secret only', async () => {
    const property = exactSignature((body, signature, secret) =>
      verifySignature(
        body,
        signature,
        Array.isArray(secret) ? (secret as Uint8Array[])[0] : secret,
      ),
    );
    expect((await fc.check(property, RUNS)).failed).toBe(true);
  });
});

describe('the retries of one call make one link at most', () => {
  it('holds', async () => {
    const { property, close } = await oneLink();
    await fc.assert(property, { numRuns: 60 });
    close();
  });

  it('finds a client that takes a new key for each try', async () => {
    const { property, close } = await oneLink((baseUrl) => {
      const client = createClient({
        baseUrl,
        apiKey: 'sk_live_properties.a-key-of-no-service',
        retries: 0,
      });
      const once = (link: Parameters<typeof client.createPaymentLink>[0]) =>
        client.createPaymentLink(link, { idempotencyKey: randomUUID() });
      return { createPaymentLink: (link) => once(link).catch(() => once(link)) };
    });
    expect((await fc.check(property, { numRuns: 100 })).failed).toBe(true);
    close();
  });
});

describe('the histories of orders are linearizable', () => {
  it('holds', () => fc.assert(linearizableOrders(), RUNS));

  it('finds payments that say paid before the credit', async () => {
    const property = linearizableOrders((options) => ({
      ...createPayments(options),
      settle: async () => ({ status: 'paid' }),
    }));
    expect((await fc.check(property, RUNS)).failed).toBe(true);
  });

  it('finds a page that keeps its first answer', async () => {
    const property = linearizableOrders((options) => {
      const payments = createPayments(options);
      const kept = new Map<string, ReturnType<typeof payments.settle>>();
      const settle: typeof payments.settle = (reference, call) => {
        const answer = kept.get(reference) ?? payments.settle(reference, call);
        kept.set(reference, answer);
        return answer;
      };
      return { ...payments, settle };
    });
    expect((await fc.check(property, { numRuns: 2_000 })).failed).toBe(true);
  });
});
