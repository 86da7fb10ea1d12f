import { fromHex, toHex } from '../bytes.js';
import { FIXTURES } from '../secret.js';
import { escapesOf, fromBase64, parseJson, toLatin1, type Change } from './variants.js';

const DASHES = /[\u2010-\u2015\u2212]/g;
const QUOTES = /^\\?["'`“”„«‘]\s?|\s?\\?["'`“”»’]$/g;
const ASSIGNED = /^(?:export\s+|set\s+)?[A-Z_][\w.-]*\s*[=:]\s*(["']?)(.*?)\1[;,]?$/is;
const SYMBOLS = Array.from('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_+/=');
/** A shorter part could be right by chance. */
const SHORTEST = 8;

/** Undoes the usual changes to secrets, on the receiver's side or the sender's. */
// oxfmt-ignore
export const SECRET_CHANGES: readonly Change[] = [
  ['secret_encoding', (text, bytes) => {
    const bare = text.trim().replace(/^(whsec_|whsk_|v1,|base64:|hex:)/i, '');
    return [text, fromHex(bare), fromBase64(bare), toHex(bytes), btoa(toLatin1(bytes))];
  }],
  // A shell or a .env file can turn a line break into the two characters \ and n.
  ['secret_blanks', (text) => [text.trim(), text.replace(/\s+/g, ''),
    text.replace(/(\\[rnt])+$/, ''), ...['\n', '\r\n', ' '].map((end) => text + end)]],
  ['secret_quoted', (text) => [text.trim().replace(QUOTES, ''),
    ...['"', "'"].map((quote) => quote + text + quote)]],
  ['secret_assignment', (text) => [text.trim().replace(ASSIGNED, '$2'),
    text.trim().replace(/^bearer\s+/i, ''),
    ...Object.values(Object(parseJson(text)) as object).map(String)]],
  ['secret_characters', (text) => {
    const plain = text.replace(/[\p{Cf}\p{Cc}]/gu, '').replace(DASHES, '-');
    return [plain, ...['NFC', 'NFKC'].map((form) => plain.normalize(form))];
  }],
  ['secret_extended', (text) => [text.trim().replace(/^[<([{"']+|[>)\]}"';,.:]+$/g, ''),
    text.replace(/\s*(#|\/\/|--).*$/s, ''), text.replace(/^(.+)\1$/s, '$1')]],
  ['secret_list', (text) => text.trim().split(/[\s,;|]+/)],
  ['secret_escaped', escapesOf],
  ['secret_case', (text) => [text.toLowerCase(), text.toUpperCase()]],
  ['secret_fixture', () => FIXTURES],
];

/** The many keys that differ from the secret by a few characters. */
export const NEARBY_SECRETS: readonly Change[] = [
  ['secret_truncated', partsOf],
  ['secret_typo', typosOf],
];

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
