import { fromHex, toHex, toText } from '../bytes.js';
import { FIXTURES } from '../secret.js';
import type { DiagnosisCode } from './codes.js';
import { escapesOf, fromBase64, fromLatin1, parseJson, toLatin1, variantsOf } from './variants.js';
import type { Value, Variant } from './variants.js';

const INVISIBLE = /[\p{Cf}\p{Cc}\u00a0\u2000-\u200a\u202f\u3000]/gu;
const DASHES = /[\u2010-\u2015\u2212]/g;
const CURLY = /^[“”„‘’‚«»‹›]+\s?|\s?[“”„‘’‚«»‹›]+$/g;
const ASSIGNED = /^(?:export\s+|set\s+)?["']?[A-Z_][\w.-]*["']?\s*[=:]\s*(["']?)(.*?)\1[;,]?$/is;
/** Cyrillic and Greek letters, and the Latin letters that they look like. */
const LOOK_ALIKE = 'аеорсухіјѕԁһАВЕКМНОРСТУХІЈЅΑΒΕΖΗΙΚΜΝΟΡΤΥΧοα';
const LATIN = 'aeopcyxijsdhABEKMHOPCTYXIJSABEZHIKMNOPTYXoa';
const SYMBOLS = Array.from('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_+/=');
/** A shorter part could be right by chance, and a longer secret has too many neighbours. */
const [SHORTEST, LONGEST] = [8, 100];

type Change = readonly [DiagnosisCode, (text: string, trimmed: string) => Iterable<Value>];

// oxfmt-ignore
const CHANGES: readonly Change[] = [
  // A shell or a .env file can turn a line break into the two characters \ and n.
  ['secret_blanks', (text, trimmed) => [trimmed, trimmed.replace(/(\\[rnt])+$/, ''), ` ${text}`,
    text.replace(/\s+/g, ''), ...['\n', '\r\n', ' ', '\t', '\\n'].map((end) => text + end)]],
  ['secret_quoted', (text, trimmed) => [trimmed.replace(/^["'`]|["'`]$/g, ''),
    trimmed.replace(/^\\(["'])(.*)\\\1$/s, '$2'), trimmed.replace(CURLY, ''),
    ...['"', "'", '`'].map((quote) => quote + text + quote)]],
  ['secret_assignment', (_, trimmed) => [trimmed.replace(ASSIGNED, '$2'),
    trimmed.replace(/^(bearer|secret|key|sha-?256|v1,)[=:\s]*/i, ''),
    ...Object.values(Object(parseJson(trimmed)) as object).map(String)]],
  ['secret_characters', (text) => {
    const plain = text.replace(INVISIBLE, '').replace(DASHES, '-');
    const latin = plain.replace(/[^\0-\x7f]/g, (each) => LATIN[LOOK_ALIKE.indexOf(each)] ?? each);
    return [plain, latin, ...['NFC', 'NFD', 'NFKC'].map((form) => plain.normalize(form))];
  }],
  ['secret_extended', (_, trimmed) => [trimmed.replace(/[;,.:\\]+$/, ''),
    trimmed.replace(/^[<([{"']+|[>)\]}"';,.]+$/g, ''), trimmed.replace(/\s*(#|\/\/|--).*$/s, ''),
    trimmed.replace(/^(.+)\1$/s, '$1')]],
  ['secret_list', (_, trimmed) => trimmed.split(/[\s,;|]+/)],
  ['secret_escaped', escapesOf],
  ['secret_case', (text) => [text.toLowerCase(), text.toUpperCase()]],
  ['secret_encoding', (text, trimmed) => {
    const bare = trimmed.replace(/^(whsec_|whsk_|v1,|base64:|hex:)/i, '');
    const decoded = [fromHex(bare), fromBase64(bare)].filter((each) => each !== undefined);
    const wide = Uint8Array.from(Array.from(text).flatMap((each) => [each.charCodeAt(0), 0]));
    return [...decoded, ...decoded.flatMap((bytes) => [toHex(bytes), btoa(toLatin1(bytes))]),
      text.replaceAll('-', '+').replaceAll('_', '/'),
      text.replaceAll('+', '-').replaceAll('/', '_'), text.replace(/=+$/, ''), `${text}=`, `${text}==`, wide, fromLatin1(text),
      toLatin1(new TextEncoder().encode(text))];
  }],
];

/** Yields the keys that the signer may have used, given the receiver's secret. */
export function* secretVariants(secret: Uint8Array): Generator<Variant> {
  const text = toText(secret);
  for (const [code, change] of text === undefined ? [] : CHANGES)
    yield* variantsOf(code, secret, change(text!, text!.trim()));
  const [hex, base64] = [toHex(secret), btoa(toLatin1(secret))];
  const encoded = [hex, hex.toUpperCase(), base64, base64.replaceAll('=', '')];
  yield* variantsOf('secret_encoding', secret, encoded);
  yield* variantsOf('secret_fixture', secret, FIXTURES);
}

/** Yields the many keys that differ from the secret by a few characters. */
export function* nearbySecrets(secret: Uint8Array): Generator<Variant> {
  const text = toText(secret);
  if (text === undefined || text.length > LONGEST) return;
  yield* variantsOf('secret_truncated', secret, partsOf(text));
  yield* variantsOf('secret_typo', secret, typosOf(text));
}

function* partsOf(text: string): Generator<string> {
  yield text.replace(/^[a-z]+_/i, '');
  for (const prefix of ['whsec_', 'whsk_', 'base64:']) yield prefix + text;
  for (const symbol of SYMBOLS) yield* [text + symbol, symbol + text];
  for (let length = text.length - 1; length >= SHORTEST; length--)
    yield* [text.slice(0, length), text.slice(-length)];
}

/** One character that was mistyped, doubled, left out or swapped with its neighbour. */
function* typosOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; at++) {
    const [before, here, after] = [text.slice(0, at), text[at]!, text.slice(at + 1)];
    yield* [before + after, before + after.slice(0, 1) + here + after.slice(1)];
    for (const symbol of SYMBOLS) yield* [before + symbol + after, before + symbol + here + after];
  }
}
