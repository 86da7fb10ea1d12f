import { isSigned } from '../by-hand.js';
import { SECRET, signatureOf } from '../delivery.js';
import type { Library } from './library.js';

export const signatureByHand: Library = {
  name: 'by hand',
  prepare(body) {
    const signature = signatureOf(body);
    return () => requireSigned(body, signature);
  },
};

export const eventByHand: Library = {
  name: 'by hand',
  prepare(body) {
    const signature = signatureOf(body);
    return () => {
      requireSigned(body, signature);
      return JSON.parse(body.toString()) as unknown;
    };
  },
};

function requireSigned(body: Buffer, signature: string): true {
  if (!isSigned(body, signature, SECRET)) throw new Error('wrong signature');
  return true;
}
