import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { findMatch, HmacKey, sign } from '../src/hmac.node.js';

// As a runtime whose node:crypto lacks the function that Node 20.12 added.
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
    expect(
      await findMatch([new HmacKey(randomBytes(32)), new HmacKey(secret)], body, signature),
    ).toBe(1);
  });
});
