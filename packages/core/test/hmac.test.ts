import { createHmac, randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { findMatch, HmacKey, sha256, sign } from '#hmac';

const byHand = (secret: Uint8Array, body: Uint8Array): string => createHmac('sha256', secret).update(body).digest('hex');

describe('HMAC-SHA256', () => {
  it('agrees with createHmac for every key of 1 to 200 bytes', async () => {
    const body = randomBytes(257);
    for (let length = 1; length <= 200; length++) {
      const secret = randomBytes(length);
      expect(await sign(new HmacKey(secret), body)).toBe(byHand(secret, body));
    }
  });

  // Around the block, around the size where the way of computing changes, and past it.
  const lengths = [0, 1, 55, 56, 63, 64, 65, 127, 128, 1000, 32_767, 32_768, 32_769, 65_536, 70_000];
  it.each(lengths)('agrees with createHmac for a body of %d bytes', async (length) => {
    const secret = randomBytes(32);
    const body = randomBytes(length);
    expect(await sign(new HmacKey(secret), body)).toBe(byHand(secret, body));
  });

  it('agrees with createHmac for 300 bodies of random length up to 70,000', async () => {
    const key = randomBytes(64);
    const imported = new HmacKey(key);
    for (let round = 0; round < 300; round++) {
      const body = randomBytes(Math.floor(Math.random() * 70_000));
      expect(await sign(imported, body)).toBe(byHand(key, body));
    }
  });

  it('reads only the view, not the buffer that it lies in', async () => {
    const pool = randomBytes(400);
    const body = pool.subarray(100, 300);
    expect(await sign(new HmacKey(pool.subarray(7, 39)), body)).toBe(byHand(pool.subarray(7, 39), body));
  });

  it('finds the first of several keys, and gives -1 where none of them signed', async () => {
    const secrets = [randomBytes(20), randomBytes(20), randomBytes(20)];
    const keys = secrets.map((secret) => new HmacKey(secret));
    const body = randomBytes(50);
    for (const [index, secret] of secrets.entries()) expect(await findMatch(keys, body, byHand(secret, body))).toBe(index);
    expect(await findMatch([...keys, keys[0]!], body, byHand(secrets[0]!, body))).toBe(0);
    expect(await findMatch(keys, body, byHand(randomBytes(20), body))).toBe(-1);
  });

  it('keeps the key when the caller changes the bytes afterwards (B10)', async () => {
    const secret = randomBytes(32);
    const before = new Uint8Array(secret);
    const key = new HmacKey(secret);
    secret.fill(0);
    expect(await sign(key, new Uint8Array(5))).toBe(byHand(before, new Uint8Array(5)));
  });

  it('shows neither key nor pads to inspect or JSON (B17)', () => {
    const secret = Buffer.from('an-inspectable-secret');
    const key = new HmacKey(secret);
    const pads = [0x36, 0x5c].map((pad) => Buffer.from(secret.map((byte) => byte ^ pad)).toString('hex'));
    const shown = inspect(key, { showHidden: true, depth: 9 }) + JSON.stringify(key);
    expect(shown).not.toContain('inspectable');
    for (const text of [secret.toString('hex'), ...pads]) expect(shown).not.toContain(text.slice(0, 12));
  });

  it('digests a text as SHA-256 in hex (FIPS 180-4, "abc")', async () => {
    expect(await sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
