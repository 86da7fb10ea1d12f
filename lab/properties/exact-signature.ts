import { createHmac } from 'node:crypto';
import { isWebhookError, verifySignature } from '@paylink/core';
import fc from 'fast-check';

export type Verify = typeof verifySignature;

const mac = (body: Uint8Array, secret: Uint8Array, algorithm = 'sha256'): string =>
  createHmac(algorithm, secret).update(body).digest('hex');

const bytes = (minLength: number, maxLength: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ minLength, maxLength }).map((array) => Buffer.from(array));

/** The right signature, and near misses. */
const spellings = fc.oneof(
  { weight: 4, arbitrary: fc.constant((right: string) => right) },
  fc.nat(255).map((bit) => (right: string) => {
    const flipped = Buffer.from(right, 'hex');
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    return flipped.toString('hex');
  }),
  fc.nat(64).map((length) => (right: string) => right.slice(0, length)),
  fc
    .nat(63)
    .map(
      (at) => (right: string) =>
        right.slice(0, at) + right.charAt(at).toUpperCase() + right.slice(at + 1),
    ),
  // Equals the digit for code that reads only a character's low byte, as latin1 does.
  fc
    .nat(63)
    .map(
      (at) => (right: string) =>
        right.slice(0, at) +
        String.fromCharCode(right.charCodeAt(at) + 0x100) +
        right.slice(at + 1),
    ),
  fc.string({ unit: 'binary', maxLength: 4 }).map((more) => (right: string) => right + more),
  fc.string({ unit: 'binary', maxLength: 4 }).map((more) => (right: string) => more + right),
  fc
    .constantFrom('sha256=', '0x', 'v1=', '"', ' ', '\0')
    .map((prefix) => (right: string) => prefix + right),
  fc.constant((right: string) => Buffer.from(right, 'hex').toString('base64')),
  fc.stringMatching(/^[0-9a-f]{64}$/).map((other) => () => other),
  fc.string({ unit: 'binary', minLength: 64, maxLength: 64 }).map((other) => () => other),
);

/** Sizes on both sides of 32,768 bytes, where core on Node changes its hash function. */
const large = fc
  .tuple(fc.integer({ min: 32_700, max: 32_900 }), bytes(1, 16))
  .map(([length, pattern]) => Buffer.alloc(length, pattern));

/** Bytes that are text neither in UTF-8 nor in UTF-16, because core refuses mistakes in texts. */
const secrets = bytes(0, 77).map((rest) =>
  Buffer.concat([Buffer.of(0xff), rest, Buffer.of(0xff, 0xff)]),
);

const deliveries = fc.record({
  body: fc.oneof({ weight: 49, arbitrary: bytes(0, 80) }, large),
  secrets: fc.array(secrets, { minLength: 1, maxLength: 3 }),
  signer: fc.oneof({ weight: 5, arbitrary: fc.nat(2) }, fc.constant(undefined)),
  algorithm: fc.oneof(
    { weight: 9, arbitrary: fc.constant('sha256') },
    fc.constantFrom('sha1', 'sha512'),
  ),
  spelling: spellings,
});

/**
 * Holds if the verifier accepts exactly the MACs under one of the secrets, and rejects all others
 * with `invalid_signature`.
 */
export function exactSignature(verify: Verify = verifySignature) {
  return fc.asyncProperty(deliveries, async ({ body, secrets, signer, algorithm, spelling }) => {
    const secret =
      signer === undefined
        ? Buffer.from('a secret of another merchant')
        : secrets[signer % secrets.length]!;
    const signature = spelling(mac(body, secret, algorithm));
    const isRight = secrets.some((each) => mac(body, each) === signature);
    const refusal: unknown = await verify(body, signature, secrets).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (refusal === undefined) return isRight;
    return !isRight && isWebhookError(refusal) && refusal.code === 'invalid_signature';
  });
}
