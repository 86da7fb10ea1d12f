import { createVerifier } from '@paylink/core';
import { nodeHeaders, SECRET, signatureOf } from '../delivery.js';
import type { Library } from './library.js';

// The built file behind core's `#hmac`. It has no public entry, because merchants have no use for
// the HMAC alone.
const BUILT_HMAC = new URL('../../../packages/core/dist/hmac.node.js', import.meta.url).href;
const { findMatch, HmacKey } = (await import(
  BUILT_HMAC
)) as typeof import('../../../packages/core/src/hmac.node.js');

export const paylinkSignature: Library = {
  name: 'paylink',
  prepare(body) {
    const keys = [new HmacKey(Buffer.from(SECRET))];
    const signature = signatureOf(body);
    return async () => {
      if ((await findMatch(keys, body, signature)) !== 0) throw new Error('wrong signature');
      return true;
    };
  },
};

export const paylinkEvent: Library = {
  name: 'paylink',
  prepare(body) {
    const verifier = createVerifier({ secret: SECRET });
    const headers = nodeHeaders(body);
    return () => verifier.verify(body, headers);
  },
};
