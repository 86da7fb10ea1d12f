import { afterEach, describe, expect, it, vi } from 'vitest';
import { HmacKey, sign } from '../src/hmac.web.js';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a key of WebCrypto', () => {
  it('is imported once, and so that no code can export it (B17)', async () => {
    const importKey = vi.spyOn(crypto.subtle, 'importKey');
    const key = new HmacKey(Buffer.from('a-secret-of-the-portal'));
    expect(importKey).not.toHaveBeenCalled();
    await sign(key, Buffer.from('{}'));
    await sign(key, Buffer.from('[]'));
    expect(importKey).toHaveBeenCalledOnce();
    const [, , , extractable, usages] = importKey.mock.calls[0]!;
    expect([extractable, usages]).toEqual([false, ['sign']]);
  });
});
