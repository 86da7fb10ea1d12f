import { execFileSync } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sign, verifySignature } from '../src/index.js';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');

// RFC 4231 section 4, retyped.
const rfc4231: readonly [name: string, key: Buffer, data: Buffer, mac: string][] = [
  ['4.2', Buffer.alloc(20, 0x0b), Buffer.from('Hi There'), 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
  [
    '4.3',
    Buffer.from('Jefe'),
    Buffer.from('what do ya want for nothing?'),
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  ],
  ['4.4', Buffer.alloc(20, 0xaa), Buffer.alloc(50, 0xdd), '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe'],
  [
    '4.5',
    hex('0102030405060708090a0b0c0d0e0f10111213141516171819'),
    Buffer.alloc(50, 0xcd),
    '82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b',
  ],
  [
    '4.7',
    Buffer.alloc(131, 0xaa),
    Buffer.from('Test Using Larger Than Block-Size Key - Hash Key First'),
    '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
  ],
  [
    '4.8',
    Buffer.alloc(131, 0xaa),
    Buffer.from(
      'This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm.',
    ),
    '9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2',
  ],
];

describe('RFC 4231', () => {
  it.each(rfc4231)('accepts and makes the MAC of section %s', async (_, key, data, mac) => {
    await expect(verifySignature(data, mac, key)).resolves.toBeUndefined();
    expect(await sign(data, key)).toBe(mac);
  });

  it('refuses the MAC of section 4.6, which is cut to 128 bits (A11)', async () => {
    const cut = verifySignature(Buffer.from('Test With Truncation'), 'a3b6167473100ee06e0c796c2955552b', Buffer.alloc(20, 0x0c));
    await expect(cut).rejects.toMatchObject({ code: 'invalid_signature' });
  });
});

interface Vector {
  readonly source: string;
  readonly id: string;
  readonly key: string;
  readonly msg: string;
  readonly tag: string;
  readonly expect: 'accept' | 'reject' | 'config-error';
}

const vectors = JSON.parse(readFileSync(new URL('./vectors/hmac-sha256.json', import.meta.url), 'utf8')) as Vector[];

describe('signatures computed by others', () => {
  it('are 250, and some of each kind', () => {
    expect(vectors).toHaveLength(250);
    expect(new Set(vectors.map((vector) => vector.expect))).toEqual(new Set(['accept', 'reject', 'config-error']));
  });

  it.each(vectors.map((vector) => [vector.source, vector.id, vector] as const))('%s %s', async (_source, _id, vector) => {
    const verified = verifySignature(hex(vector.msg), vector.tag, hex(vector.key));
    if (vector.expect === 'accept') await expect(verified).resolves.toBeUndefined();
    else await expect(verified).rejects.toMatchObject({ code: vector.expect === 'reject' ? 'invalid_signature' : 'misconfigured' });
  });

  it('refuses each accepted vector with any one of its 256 bits flipped (A18)', async () => {
    for (const { key, msg, tag } of vectors.filter((vector) => vector.expect === 'accept')) {
      for (let bit = 0; bit < 256; bit++) {
        const flipped = hex(tag);
        flipped[bit >> 3]! ^= 1 << (bit & 7);
        await expect(verifySignature(hex(msg), flipped.toString('hex'), hex(key))).rejects.toMatchObject({
          code: 'invalid_signature',
        });
      }
    }
  }, 60_000);
});

const hasOpenssl = ((): boolean => {
  try {
    return execFileSync('openssl', ['version']).length > 0;
  } catch {
    return false;
  }
})();
if (!hasOpenssl) console.warn('skipped: no openssl on this machine');

describe.skipIf(!hasOpenssl && process.env['CI'] === undefined)('openssl as a second signer (M05)', () => {
  it('signs 1,000 random bodies that are accepted, and refused with one bit flipped', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'paylink-openssl-'));
    try {
      for (let group = 0; group < 10; group++) {
        const secret = randomBytes(randomInt(1, 150));
        const bodies = Array.from({ length: 100 }, () => randomBytes(randomInt(0, 3_000)));
        const files = bodies.map((body, index) => {
          const path = join(folder, `${index}`);
          writeFileSync(path, body);
          return path;
        });
        // One line a file: HMAC-SHA2-256(path)= hex
        const lines = execFileSync('openssl', [
          'dgst',
          '-sha256',
          '-mac',
          'HMAC',
          '-macopt',
          `hexkey:${secret.toString('hex')}`,
          ...files,
        ]);
        const signatures = lines
          .toString()
          .trim()
          .split('\n')
          .map((line) => line.split('= ')[1]!);
        for (const [index, body] of bodies.entries()) {
          const signature = signatures[index]!;
          await expect(verifySignature(body, signature, secret)).resolves.toBeUndefined();
          const damaged = Buffer.concat([body, body.length === 0 ? Buffer.from([1]) : Buffer.alloc(0)]);
          damaged[randomInt(damaged.length)]! ^= 1 << randomInt(8);
          await expect(verifySignature(damaged, signature, secret)).rejects.toMatchObject({ code: 'invalid_signature' });
        }
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  }, 60_000);
});
