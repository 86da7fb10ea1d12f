/**
 * Tests that a check's time does not reveal the right part of a signature.
 * `TIMING_SAMPLES=2000000 npx vitest run test/timing` takes more samples. The default finds usual
 * leaks in seconds.
 */
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import * as node from '../../packages/core/src/hmac.node.js';
import * as web from '../../packages/core/src/hmac.web.js';
import { welch, type Subject } from './welch.js';

/** Above this, the times count as different (Goodwill et al., TVLA). */
const THRESHOLD = 4.5;
const SAMPLES = Number(process.env['TIMING_SAMPLES'] ?? 100_000);
/** Other processes disturb each round differently, and may show or hide a leak in one. */
const ROUNDS = 4;

const body = Buffer.from('{"reference":"order-42"}');
const secrets = Array.from({ length: 8 }, (_, index) => Buffer.from(`secret-number-${index}`));
const mac = (key: Uint8Array): Buffer => createHmac('sha256', key).update(body).digest();

/**
 * Returns the right signature with one changed byte. Each is a new string, so that the engine
 * treats all inputs alike.
 */
function wrongAt(byte: number): string {
  const bytes = mac(secrets[0]!);
  bytes[byte]! ^= 0x5a;
  return bytes.toString('hex');
}

const wrongAtEitherEnd = [wrongAt(0), wrongAt(31)] as const;
const ofEitherEnd = [mac(secrets[0]!).toString('hex'), mac(secrets[7]!).toString('hex')] as const;

/** A careless comparison, which stops at the first difference. */
function leakyEqual(given: string, expected: string): boolean {
  for (let index = 0; index < 64; index++) {
    if (given.charCodeAt(index) !== expected.charCodeAt(index)) return false;
  }
  return true;
}

async function smallest(subject: Subject): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS && least >= THRESHOLD; round++)
    least = Math.min(least, Math.abs(await welch(subject, SAMPLES)));
  return least;
}

async function largest(subject: Subject, samples: number, enough: number): Promise<number> {
  let most = 0;
  for (let round = 0; round < ROUNDS && most <= enough; round++)
    most = Math.max(most, Math.abs(await welch(subject, samples)));
  return most;
}

/** Each HMAC of core, and the same with the fault that the test must see. */
const ways = [
  {
    name: 'on node:crypto',
    batch: 4,
    match: (keys: readonly Uint8Array[]) => {
      const imported = keys.map((key) => new node.HmacKey(key));
      return (signature: string) => node.findMatch(imported, body, signature);
    },
    leaky: (keys: readonly Uint8Array[]) => {
      const imported = keys.map((key) => new node.HmacKey(key));
      return (signature: string) =>
        imported.findIndex((key) => leakyEqual(signature, key.digest(body)));
    },
  },
  {
    name: 'on WebCrypto',
    batch: 1,
    match: (keys: readonly Uint8Array[]) => {
      const imported = keys.map((key) => new web.HmacKey(key));
      return (signature: string) => web.findMatch(imported, body, signature);
    },
    leaky: (keys: readonly Uint8Array[]) => {
      const imported = keys.map((key) => new web.HmacKey(key));
      return async (signature: string) => {
        for (const [index, key] of imported.entries()) {
          if (leakyEqual(signature, await web.sign(key, body))) return index;
        }
        return -1;
      };
    },
  },
];

describe.each(ways)('the check of a signature $name', ({ batch, match, leaky }) => {
  const one = secrets.slice(0, 1);

  it('J03 takes equally long for a wrong first byte and a wrong last byte', async () => {
    const t = await smallest({ run: match(one), inputs: wrongAtEitherEnd, batch });
    expect(t).toBeLessThan(THRESHOLD);
  }, 240_000);

  it('J04 takes equally long if the first or the last of eight secrets matches', async () => {
    const t = await smallest({ run: match(secrets), inputs: ofEitherEnd, batch: 1 });
    expect(t).toBeLessThan(THRESHOLD);
  }, 240_000);

  it('J04 is detected by this test if it stops at the matching secret', async () => {
    const t = await largest(
      { run: leaky(secrets), inputs: ofEitherEnd, batch: 1 },
      SAMPLES / 5,
      10 * THRESHOLD,
    );
    expect(t).toBeGreaterThan(10 * THRESHOLD);
  }, 240_000);
});

describe('the timing test', () => {
  const expected = mac(secrets[0]!).toString('hex');
  const [onNode] = ways as [(typeof ways)[0]];

  // WebCrypto’s promises hide such small differences, and so does a network.
  it('J03 detects a check whose comparison stops at the first difference', async () => {
    const subject = {
      run: onNode.leaky(secrets.slice(0, 1)),
      inputs: wrongAtEitherEnd,
      batch: onNode.batch,
    };
    expect(await largest(subject, SAMPLES, 3 * THRESHOLD)).toBeGreaterThan(3 * THRESHOLD);
  }, 240_000);

  it('J03 detects a bare comparison that stops at the first difference', async () => {
    const subject = {
      run: (given: string) => Number(leakyEqual(given, expected)),
      inputs: wrongAtEitherEnd,
      batch: 20,
    };
    expect(await largest(subject, SAMPLES, 10 * THRESHOLD)).toBeGreaterThan(10 * THRESHOLD);
  }, 240_000);
});
