import { FIXTURES } from '../secret.js';
import type { DiagnosisCode } from './codes.js';
import { fromBase64, fromHex, toBase64, toHex, toText } from './encodings.js';
import { variantsOf, type Variant } from './variants.js';

/** The keys that the signer may have used, where the receiver has `secret`. */
export function secretVariants(secret: Uint8Array): Variant[] {
  const text = toText(secret);
  const variants: Variant[] = [];
  const add = (code: DiagnosisCode, ...values: (string | Uint8Array | undefined)[]): void => {
    variants.push(...variantsOf(code, secret, ...values));
  };
  if (text !== undefined) {
    const trimmed = text.trim();
    // The two characters \ and n too: what a shell or a .env file makes of an escape.
    add('secret_blanks', trimmed, trimmed.replace(/(\\r|\\n)+$/, ''), `${text}\n`, `${text}\r\n`, `${text} `, ` ${text}`);
    add('secret_quoted', trimmed.replace(/^(["'`])(.*)\1$/s, '$2'), `"${text}"`, `'${text}'`);
    add('secret_assignment', trimmed.replace(/^(export\s+)?[A-Z_][A-Z0-9_]*\s*[=:]\s*(["']?)(.*)\2$/is, '$3'));
    const bare = trimmed.replace(/^whsec_/, '');
    add('secret_encoding', fromHex(bare), fromBase64(bare), bare);
  }
  add('secret_encoding', toHex(secret), toHex(secret).toUpperCase(), toBase64(secret), toBase64(secret).replaceAll('=', ''));
  add('secret_fixture', ...FIXTURES);
  return variants;
}
