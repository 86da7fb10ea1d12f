import { createHmac, randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';

const prototype = Uint8Array.prototype as { setFromHex?: unknown };
const own = Object.getOwnPropertyDescriptor(prototype, 'setFromHex');

afterEach(() => {
  if (own === undefined) delete prototype.setFromHex;
  else Object.defineProperty(prototype, 'setFromHex', own);
});

async function expectRightDigests(): Promise<void> {
  vi.resetModules();
  const { findMatch, HmacKey, sign } = await import('../src/hmac.node.js');
  for (const length of [0, 24, 300, 70_000]) {
    const secret = randomBytes(32);
    const body = randomBytes(length);
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    const keys = [new HmacKey(randomBytes(32)), new HmacKey(secret)];
    expect(await sign(keys[1]!, body)).toBe(signature);
    expect(await findMatch(keys, body, signature)).toBe(1);
    expect(
      await findMatch(
        keys,
        body,
        signature.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
      ),
    ).toBe(-1);
  }
}

describe('HMAC-SHA256 on node:crypto', () => {
  it('lets an array read hex where it can', async () => {
    const setFromHex = vi.fn(function (this: Uint8Array, hex: string) {
      this.set(Buffer.from(hex, 'hex'));
    });
    Object.defineProperty(prototype, 'setFromHex', { value: setFromHex, configurable: true, writable: true });
    await expectRightDigests();
    expect(setFromHex).toHaveBeenCalled();
  });

  it('reads hex by a Buffer where an array cannot', async () => {
    delete prototype.setFromHex;
    await expectRightDigests();
  });
});
