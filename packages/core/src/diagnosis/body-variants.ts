import { fromHex, toHex } from '../bytes.js';
import { writings } from './json-writings.js';
import { escapesOf, fromBase64, fromLatin1, parseJson, toLatin1, type Change } from './variants.js';

/** Undoes the usual changes to bodies, the simplest first. */
// oxfmt-ignore
export const BODY_CHANGES: readonly Change[] = [
  ['body_empty', () => ['']],
  // Undoes Latin-1, UTF-16, and UTF-8 that was decoded as Latin-1 and encoded again.
  ['body_decoded', (text, bytes) => [text, toLatin1(bytes), fromLatin1(text),
    new TextDecoder('utf-16le').decode(bytes), text.normalize('NFC')]],
  ['body_newline', (text) => [trimBlanks(text), `${trimBlanks(text)}\n`,
    ...['\n', '\r\n', ' '].map((end) => text + end)]],
  ['body_line_breaks', (text) => ['\n', '\r\n', ''].map((end) => text.replace(/\r?\n|\r/g, end))],
  ['body_bom', (text) => [text.replace(/^\ufeff+/, ''), `\ufeff${text}`]],
  ['body_base64', (text, bytes) => [fromBase64(text), fromHex(text), btoa(toLatin1(bytes)),
    toHex(bytes)]],
  ['body_escaped', escapesOf],
  ['body_escaped', (text) => Object.keys(Object(parseJson(text)) as object)],
  ['body_extended', (text) => [text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)]],
  ['body_buffer', (text) => [writtenBytes(parseJson(text)), writtenBytes(parseJson(`[${text}]`))]],
  ['body_enveloped', innerTexts],
  ['body_reserialized', writings],
];

/** Removes JSON whitespace, in linear time by the lookbehind. `trim()` would remove a BOM too. */
function trimBlanks(text: string): string {
  return text.replace(/^[ \t\r\n]+|(?<![ \t\r\n])[ \t\r\n]+$/g, '');
}

/** Returns the bytes if the value is the JSON of a Buffer or a Uint8Array, or a list of bytes. */
function writtenBytes(parsed: unknown): Uint8Array | undefined {
  const { type, data } = Object(parsed) as { readonly type?: unknown; readonly data?: unknown };
  const bytes = Object.values(Object(type === 'Buffer' ? data : parsed) as Record<string, number>);
  const areBytes = bytes.every((byte) => Number.isInteger(byte) && byte >= 0 && byte < 256);
  return areBytes ? Uint8Array.from(bytes) : undefined;
}

/** The most values of an envelope to try: a stranger's body can have thousands. */
const MOST_VALUES = 32;

/** Yields the values inside a JSON text, the outer ones first. */
function* innerTexts(text: string): Generator<string | Uint8Array | undefined> {
  if (parseJson(text) === undefined) return;
  const values: unknown[] = [];
  JSON.parse(text, (_, value: unknown) => {
    values.push(value);
    return value;
  });
  for (const value of values.reverse().slice(1, MOST_VALUES)) {
    if (typeof value !== 'object' && typeof value !== 'string') continue;
    const written = typeof value === 'string' ? value : JSON.stringify(value);
    yield* [written, fromBase64(written)];
  }
}
