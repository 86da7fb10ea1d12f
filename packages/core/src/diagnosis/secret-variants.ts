import { fromHex, toHex, toText } from '../bytes.js';
import { FIXTURES } from '../secret.js';
import type { DiagnosisCode } from './codes.js';
import { fromBase64, toLatin1, variantsOf } from './variants.js';
import type { Value, Variant } from './variants.js';

/** Returns the keys that the signer may have used, given the receiver's secret. */
export function secretVariants(secret: Uint8Array): Variant[] {
  const text = toText(secret);
  const hex = toHex(secret);
  const base64 = btoa(toLatin1(secret));
  const changes: readonly Change[] = [
    ...(text === undefined ? [] : changesOf(text, text.trim())),
    ['secret_encoding', hex, hex.toUpperCase(), base64, base64.replaceAll('=', '')],
    ['secret_fixture', ...FIXTURES],
  ];
  return changes.flatMap(([code, ...values]) => [...variantsOf(code, secret, ...values)]);
}

type Change = readonly [DiagnosisCode, ...Value[]];

function changesOf(text: string, trimmed: string): readonly Change[] {
  const bare = trimmed.replace(/^whsec_/, '');
  const assigned = /^(export\s+)?[A-Z_][A-Z0-9_]*\s*[=:]\s*(["']?)(.*)\2$/is;
  // A shell or a .env file can turn a line break into the two characters \ and n.
  const unbroken = trimmed.replace(/(\\r|\\n)+$/, '');
  return [
    ['secret_blanks', trimmed, unbroken, `${text}\n`, `${text}\r\n`, `${text} `, ` ${text}`],
    ['secret_quoted', trimmed.replace(/^(["'`])(.*)\1$/s, '$2'), `"${text}"`, `'${text}'`],
    ['secret_assignment', trimmed.replace(assigned, '$3')],
    ['secret_quoted', trimmed.replace(/^[“”„‘’«‹]+\s?|\s?[“”‘’»›]+$/g, '')],
    ['secret_encoding', fromHex(bare), fromBase64(bare), bare],
  ];
}
