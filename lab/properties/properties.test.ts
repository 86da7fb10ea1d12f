/**
 * Tries a few cases of each property, and a broken subject that each property must find.
 * `pnpm lab properties` tries more.
 */
import { randomUUID } from 'node:crypto';
import { createClient } from '@paylink/client';
import { createVerifier, verifySignature } from '@paylink/core';
import type { PaymentStore } from '@paylink/payments';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactSignature } from './exact-signature.js';
import { linearizableStore } from './linearizable.js';
import { oneLink } from './one-link.js';
import { onlyWebhookErrors } from './only-webhook-errors.js';
import { onMemory } from './stores.js';

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

describe('nothing but a WebhookError is thrown by reading', () => {
  it('holds', () => fc.assert(onlyWebhookErrors(), RUNS));

  it('finds a reader that lets the error of JSON.parse through', async () => {
    const verifier = createVerifier({ secret: 'a-secret-for-the-properties' });
    const property = onlyWebhookErrors({
      verify: async (rawBody, headers) => {
        if (rawBody instanceof Uint8Array) JSON.parse(new TextDecoder().decode(rawBody));
        return verifier.verify(rawBody, headers);
      },
    });
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

describe('the histories of a store are linearizable', () => {
  it('holds for memoryStore', () => fc.assert(linearizableStore(onMemory()), RUNS));

  it.each<[string, (store: PaymentStore<undefined>) => PaymentStore<undefined>]>([
    [
      'marks before the work',
      ({ isDone, run }) => ({
        isDone,
        run: (key, work, options) =>
          run(key, async () => undefined, options).then(async (result) =>
            result === 'done' ? (await work(undefined), result) : result,
          ),
      }),
    ],
    ['forgets the mark', ({ run }) => ({ isDone: () => Promise.resolve(false), run })],
    [
      'looks, and then acts',
      ({ isDone }) => {
        const done = new Set<string>();
        return {
          isDone: async (key) => done.has(key) || (await isDone(key)),
          run: async (key, work) => {
            if (done.has(key)) return 'duplicate';
            await work(undefined);
            done.add(key);
            return 'done';
          },
        };
      },
    ],
    [
      'gives a waiter the result of another key',
      ({ isDone, run }) => {
        const running = new Map<string, Promise<'done' | 'duplicate' | 'in_progress'>>();
        return {
          isDone,
          run: (key, work, options) => {
            const other = running.get(options.turn);
            if (other !== undefined) return other.then(() => 'duplicate' as const);
            const mine = run(key, work, options).finally(() => running.delete(options.turn));
            running.set(options.turn, mine);
            return mine;
          },
        };
      },
    ],
  ])('finds a store that %s', async (_, broken) => {
    const { stores, pause } = onMemory();
    const property = linearizableStore({ stores: stores.map(broken), pause });
    const result = await fc.check(property, { numRuns: 2_000 });
    expect(result.failed).toBe(true);
  });
});
