import { fromHex, toHex, toText } from '../bytes.js';
import { FIXTURES } from '../secret.js';
import type { DiagnosisCode } from './codes.js';
import { bytesOf, fromBase64, fromLatin1, parseJson, toLatin1 } from './decode.js';
import { writings } from './json-writings.js';

/** Bytes that the sender may have signed or used as key, and the fault that a match proves. */
export interface Variant {
  readonly code?: DiagnosisCode;
  readonly value: Uint8Array;
}

/** Undoes one fault. Receives bytes that are not UTF-8 as Latin-1 text. */
type Change = readonly [
  DiagnosisCode,
  (text: string, bytes: Uint8Array) => Iterable<string | Uint8Array | undefined>,
];

const PREFIX = /^(whsec_|whsk_|v1,|base64:|hex:)/i;
const QUOTES = /^\\?["'`“”„«‘]\s?|\s?\\?["'`“”»’]$/g;

/** Undoes the usual changes to secrets, on the receiver's side or the sender's. */
// oxfmt-ignore
export const SECRET_CHANGES: readonly Change[] = [
  ['secret_encoding', (text, bytes) => {
    const bare = text.trim().replace(PREFIX, '');
    return [text, fromHex(bare), fromBase64(bare), toHex(bytes), btoa(toLatin1(bytes))];
  }],
  ['secret_blanks', (text) => [text.trim(), ...['\n', '\r\n', ' '].map((end) => text + end)]],
  ['secret_quoted', (text) => [text.trim().replace(QUOTES, ''),
    ...['"', "'"].map((quote) => quote + text + quote)]],
  ['secret_altered', (text) => [text.toLowerCase(), text.toUpperCase(), text.replace(PREFIX, ''),
    ...['whsec_', 'base64:'].map((prefix) => prefix + text), text.replace(/\\(.)/gs, '$1')]],
  ['secret_fixture', () => FIXTURES],
];

/** Undoes the usual changes to bodies, the simplest first. */
// oxfmt-ignore
export const BODY_CHANGES: readonly Change[] = [
  // Undoes Latin-1, UTF-16, a byte order mark, and UTF-8 that was decoded as Latin-1.
  ['body_decoded', (text, bytes) => [text, toLatin1(bytes), fromLatin1(text),
    new TextDecoder('utf-16le').decode(bytes), text.replace(/^\ufeff/, ''), `\ufeff${text}`]],
  ['body_newline', (text) => [trimBlanks(text), `${trimBlanks(text)}\n`,
    ...['\n', '\r\n', ' '].map((end) => text + end),
    ...['\n', '\r\n', ''].map((end) => text.replace(/\r?\n|\r/g, end))]],
  ['body_base64', (text) => [fromBase64(text), fromHex(text)]],
  ['body_enveloped', (text) => {
    const { body } = Object(parseJson(text)) as { readonly body?: unknown };
    return typeof body === 'string' ? [body, fromBase64(body)] : [];
  }],
  ['body_reserialized', writings],
];

/** Yields each value that differs from the original. A change without effect is not a cause. */
export function* variantsOf(
  original: Uint8Array,
  changes: readonly Change[],
): Generator<Variant & { readonly code: DiagnosisCode }> {
  const text = toText(original) ?? toLatin1(original);
  for (const [code, change] of changes) {
    for (const each of change(text, original)) {
      const value = bytesOf(each);
      // An HMAC key is never empty, and neither is a signed body.
      if (value === undefined || value.length === 0) continue;
      const isSame =
        value.length === original.length && value.every((byte, at) => byte === original[at]);
      if (!isSame) yield { code, value };
    }
  }
}

/** Removes JSON whitespace, in linear time by the lookbehind. `trim()` would remove a BOM too. */
function trimBlanks(text: string): string {
  return text.replace(/^[ \t\r\n]+|(?<![ \t\r\n])[ \t\r\n]+$/g, '');
}
