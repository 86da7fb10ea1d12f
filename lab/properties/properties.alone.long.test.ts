/** Tries a few cases. `pnpm lab properties` tries more. */
import { verifySignature } from '@paylink/core';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { exactSignature } from './exact-signature.js';

it('a signature is accepted if and only if it is the exact MAC', () =>
  fc.assert(exactSignature(), { numRuns: 500 }));

it('a verifier that accepts upper case is found', async () => {
  const property = exactSignature((body, signature, secret) =>
    verifySignature(
      body,
      typeof signature === 'string' ? signature.toLowerCase() : signature,
      secret,
    ),
  );
  expect((await fc.check(property, { numRuns: 500 })).failed).toBe(true);
});
