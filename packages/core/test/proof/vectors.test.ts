import { execFileSync } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sign, verifySignature } from '../../src/index.js';

interface Vector {
  readonly source: string;
  readonly id: string;
  readonly key: string;
  readonly msg: string;
  readonly tag: string;
  readonly expect: 'accept' | 'reject' | 'config-error';
}

const file = new URL('../vectors/hmac-sha256.json', import.meta.url);
const vectors = JSON.parse(readFileSync(file, 'utf8')) as Vector[];
const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const codeOf = (verified: Promise<void>): Promise<string> =>
  verified.then(
    () => 'accept',
    (error: unknown) => (error as { code: string }).code,
  );

/** The bytes with one bit flipped. */
function flip(bytes: Uint8Array, bit: number): Buffer {
  const flipped = Buffer.from(bytes);
  flipped[bit >> 3]! ^= 1 << (bit & 7);
  return flipped;
}

describe('published signatures', () => {
  it('are 110', () => {
    expect(vectors).toHaveLength(110);
  });

  const codes = { accept: 'accept', reject: 'invalid_signature', 'config-error': 'misconfigured' };
  const rows = vectors.map((vector) => [vector.expect, vector.source, vector.id, vector] as const);
  it.each(rows)('%s the vector %s %s', async (expected, _source, _id, { key, msg, tag }) => {
    expect(await codeOf(verifySignature(hex(msg), tag, hex(key)))).toBe(codes[expected]);
    if (expected === 'accept') expect(await sign(hex(msg), hex(key))).toBe(tag);
  });

  it('are refused with any one of their 256 bits flipped', async () => {
    const accepted = vectors.filter((vector) => vector.expect === 'accept');
    const one = accepted.filter(({ source }, index) => accepted[index - 1]?.source !== source);
    for (const { key, msg, tag } of one) {
      const verified = Array.from({ length: 256 }, (_, bit) =>
        codeOf(verifySignature(hex(msg), flip(hex(tag), bit).toString('hex'), hex(key))),
      );
      expect(new Set(await Promise.all(verified))).toEqual(new Set(['invalid_signature']));
    }
  });
});

const hasOpenssl = ((): boolean => {
  try {
    return execFileSync('openssl', ['version']).length > 0;
  } catch {
    return false;
  }
})();
if (!hasOpenssl) console.warn('skipped: no openssl on this machine');

it.skipIf(!hasOpenssl && process.env['CI'] === undefined)(
  'openssl signs 60 bodies that pass, and fail with one bit flipped',
  { tags: 'M05' },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'paylink-openssl-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (let group = 0; group < 3; group++) {
      // Not text: blanks at the ends of a text are refused.
      const secret = Buffer.concat([Buffer.of(0xff), randomBytes(randomInt(150))]);
      const bodies = Array.from({ length: 20 }, () => randomBytes(randomInt(1, 3_000)));
      const files = bodies.map((body, index) => {
        const path = join(folder, `${index}`);
        writeFileSync(path, body);
        return path;
      });
      const key = `hexkey:${secret.toString('hex')}`;
      const flags = ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', key];
      // One line per file: HMAC-SHA2-256(path)= hex
      const output = execFileSync('openssl', [...flags, ...files], { encoding: 'utf8' });
      const signatures = output.trim().split('\n');
      for (const [index, body] of bodies.entries()) {
        const signature = signatures[index]!.split('= ')[1]!;
        expect(await codeOf(verifySignature(body, signature, secret))).toBe('accept');
        const damaged = flip(body, randomInt(body.length * 8));
        const code = await codeOf(verifySignature(damaged, signature, secret));
        expect(code).toBe('invalid_signature');
      }
    }
  },
);
