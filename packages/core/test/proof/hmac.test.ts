import crypto, { createHmac, randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { findMatch, HmacKey, sign } from '#hmac';
import { findMatch as findOnNode, HmacKey as NodeKey } from '../../src/hmac.node.js';
import {
  findMatch as findOnWeb,
  HmacKey as WebKey,
  sign as signOnWeb,
} from '../../src/hmac.web.js';
import { verifySignature } from '../../src/index.js';

const byHand = (secret: Uint8Array, body: Uint8Array): string =>
  createHmac('sha256', secret).update(body).digest('hex');

describe('HMAC-SHA256', () => {
  it('agrees with createHmac for every key of 1 to 200 bytes', async () => {
    const body = randomBytes(257);
    for (let length = 1; length <= 200; length++) {
      const secret = randomBytes(length);
      expect(await sign(new HmacKey(secret), body)).toBe(byHand(secret, body));
    }
  });

  // Around the block, and around the size above which createHmac computes.
  const lengths = [0, 1, 55, 56, 63, 64, 65, 127, 128, 1000, 4_095, 4_096, 4_097, 65_536, 70_000];
  it.each(lengths)('agrees with createHmac for a body of %d bytes', async (length) => {
    const secret = randomBytes(32);
    const body = randomBytes(length);
    expect(await sign(new HmacKey(secret), body)).toBe(byHand(secret, body));
  });

  it('computes the MAC of every key, also if the first signed', { tags: 'J04' }, async () => {
    const keys = Array.from({ length: 8 }, () => new HmacKey(randomBytes(20)));
    const body = randomBytes(50);
    const signed = [await sign(keys[0]!, body), await sign(keys[7]!, body)];
    const digests = keys.map((key) => vi.spyOn(key, 'digest'));
    for (const signature of signed) await findMatch(keys, body, signature);
    for (const digest of digests) expect(digest).toHaveBeenCalledTimes(2);
  });

  it('reads the view, and not the whole buffer under the view', async () => {
    const pool = randomBytes(400);
    const body = pool.subarray(100, 300);
    expect(await sign(new HmacKey(pool.subarray(7, 39)), body)).toBe(
      byHand(pool.subarray(7, 39), body),
    );
  });

  it('finds the first key that signed, or gives -1', async () => {
    const secrets = [randomBytes(20), randomBytes(20), randomBytes(20)];
    const keys = secrets.map((secret) => new HmacKey(secret));
    const body = randomBytes(50);
    for (const [index, secret] of secrets.entries())
      expect(await findMatch(keys, body, byHand(secret, body))).toBe(index);
    expect(await findMatch([...keys, keys[0]!], body, byHand(secrets[0]!, body))).toBe(0);
    expect(await findMatch(keys, body, byHand(randomBytes(20), body))).toBe(-1);
  });

  it('shows neither key nor pads to inspect or JSON', { tags: 'B17' }, () => {
    const secret = Buffer.from('an-inspectable-secret');
    const key = new HmacKey(secret);
    const pads = [0x36, 0x5c].map((pad) =>
      Buffer.from(secret.map((byte) => byte ^ pad)).toString('hex'),
    );
    const shown = inspect(key, { showHidden: true, depth: 9 }) + JSON.stringify(key);
    expect(shown).not.toContain('inspectable');
    for (const text of [secret.toString('hex'), ...pads])
      expect(shown).not.toContain(text.slice(0, 12));
  });
});

it('keeps keys and MACs out of the memory that Buffers share', { tags: 'B17' }, async () => {
  const secret = 'a-real-webhook-key-of-the-portal';
  const body = Buffer.from(JSON.stringify({ reference: 'order-42', note: 'n'.repeat(200) }));
  const wrong = '0'.repeat(64);
  const expected = createHmac('sha256', secret).update(body).digest('hex');
  await expect(verifySignature(body, wrong, secret)).rejects.toThrow('does not match');
  const shared = Buffer.from(Buffer.from('a merchant’s own text').buffer);
  const pad = Buffer.from(secret).map((byte) => byte ^ 0x36) as Buffer;
  expect(shared.includes(pad)).toBe(false);
  expect(shared.includes(expected)).toBe(false);
});

// A comparison that stops early tells an attacker the right part of a signature, byte by byte.
describe('the comparison', () => {
  it('calls crypto.timingSafeEqual for every key on Node', { tags: 'J03' }, async () => {
    const compare = vi.spyOn(crypto, 'timingSafeEqual');
    onTestFinished(() => compare.mockRestore());
    const keys = [1, 2, 3].map(() => new NodeKey(randomBytes(20)));
    for (const signature of ['0'.repeat(64), keys[0]!.digest(Buffer.from('{}'))]) {
      compare.mockClear();
      await findOnNode(keys, Buffer.from('{}'), signature);
      expect(compare).toHaveBeenCalledTimes(3);
    }
  });

  it(
    'reads every byte of every MAC on WebCrypto, wherever the first difference is',
    { tags: 'J03' },
    async () => {
      const keys = [randomBytes(20), randomBytes(20)].map((secret) => new WebKey(secret));
      const right = await signOnWeb(keys[0]!, Buffer.from('{}'));
      const wrong = [0, 31].map((byte) => {
        const bytes = Buffer.from(right, 'hex');
        bytes[byte]! ^= 0x5a;
        return bytes.toString('hex');
      });
      const all = Array.from({ length: 32 }, (_, index) => String(index));
      for (const signature of [right, ...wrong]) {
        for (const key of keys) {
          const digest = await WebKey.prototype.digest.call(key, Buffer.from('{}'));
          const read: string[] = [];
          const watched = new Proxy(digest, {
            get(target, name) {
              if (typeof name === 'string' && /^\d+$/.test(name)) read.push(name);
              const value = Reflect.get(target, name, target) as unknown;
              return typeof value === 'function' ? (value.bind(watched) as unknown) : value;
            },
          });
          key.digest = () => Promise.resolve(watched);
          await findOnWeb([key], Buffer.from('{}'), signature);
          expect(read).toEqual(all);
        }
      }
    },
  );
});

describe('a key of WebCrypto', () => {
  it(
    'imports a WebCrypto key once, at its first use, and never exports it',
    { tags: 'B17' },
    async () => {
      const importKey = vi.spyOn(crypto.subtle, 'importKey');
      const key = new WebKey(Buffer.from('a-secret-of-the-portal'));
      expect(importKey).not.toHaveBeenCalled();
      await signOnWeb(key, Buffer.from('{}'));
      await signOnWeb(key, Buffer.from('[]'));
      expect(importKey).toHaveBeenCalledOnce();
      const [, , , isExtractable, usages] = importKey.mock.calls[0]!;
      expect([isExtractable, usages]).toEqual([false, ['sign']]);
      importKey.mockRestore();
    },
  );
});

it('throws in a browser, and names the fix', { tags: 'B18' }, async () => {
  const message = /loaded in a browser.*import this package from server code only.*jsdom/;
  await expect(import('../../src/hmac.browser.js')).rejects.toThrow(message);
});
