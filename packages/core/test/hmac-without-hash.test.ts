import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { findMatch, HmacKey, sha256, sign } from '../src/hmac.node.js';

// As on a runtime that offers node:crypto, but not yet what Node added to it in 20.12.
vi.mock('node:crypto', async (original) => {
  const module = await original<{ default: object }>();
  return { ...module, default: { ...module.default, hash: undefined } };
});

describe('a node:crypto without `hash`', () => {
  it.each([0, 24, 70_000])('gives the same signature of %d bytes', async (length) => {
    const secret = randomBytes(32);
    const body = randomBytes(length);
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    expect(await sign(new HmacKey(secret), body)).toBe(signature);
    expect(await findMatch([new HmacKey(randomBytes(32)), new HmacKey(secret)], body, signature)).toBe(1);
  });

  it('gives the same digest of a text', async () => {
    // NIST's example of one block, FIPS 180-4.
    expect(await sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
