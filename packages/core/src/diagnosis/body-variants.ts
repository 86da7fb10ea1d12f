import { fromHex, toHex, toText } from '../bytes.js';
import type { DiagnosisCode } from './codes.js';
import { writings } from './json-writings.js';
import { tryDecode, escapesOf, fromBase64, fromLatin1, parseJson, toLatin1 } from './variants.js';
import { variantsOf, type Value, type Variant } from './variants.js';

type Change = readonly [DiagnosisCode, (text: string, body: Uint8Array) => Iterable<Value>];

// oxfmt-ignore
const TEXTS: readonly Change[] = [
  ['body_newline', (text) => [text.replace(/\r?\n$/, ''), trimBlanks(text), `${trimBlanks(text)}\n`,
    ...['\n', '\r\n', '\r', ' ', '\n\n'].map((end) => text + end), ` ${text}`, `\n${text}`]],
  ['body_line_breaks', (text) => {
    const lines = text.split(/\r\n|\r|\n/);
    return ['\n', '\r\n', '\r', '', ' '].map((end) => lines.join(end));
  }],
  ['body_bom', (text) => [text.replace(/^\ufeff+/, ''), `\ufeff${text}`]],
  ['body_base64', (text, body) => [fromBase64(text), fromHex(text), btoa(toLatin1(body)),
    `${btoa(toLatin1(body))}\n`, toHex(body)]],
  // Undoes UTF-8 that was decoded as Latin-1 and encoded again.
  ['body_decoded', (text, body) => [fromLatin1(text), toLatin1(body), text.normalize('NFC'),
    text.normalize('NFD'), text.replace(/[^\0-\x7f]/g, '?')]],
  ['body_escaped', escapesOf],
  ['body_escaped', (text) => Object.keys(Object(parseJson(text)) as object)],
  ['body_extended', (text) => [text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1),
    text.replace(/[\0-\x1f\x7f\p{Cf}]/gu, ''), `"${text}"`, `'${text}'`]],
];

/** Yields the bytes that the sender may have signed, the simplest change first. */
export function* bodyVariants(body: Uint8Array): Generator<Variant> {
  yield* variantsOf('body_empty', body, ['']);
  const text = toText(body);
  if (text === undefined || /^.?\0/s.test(text)) {
    yield* variantsOf('body_decoded', body, [toLatin1(body), ...decodingsOf(body)]);
    return;
  }
  for (const [code, change] of TEXTS) yield* variantsOf(code, body, change(text, body));
  const isByteList = /^\d{1,3}(,\d{1,3})+$/.test(text);
  yield* parsedVariants(isByteList ? `[${text}]` : text.replace(/^\ufeff/, ''), body);
}

/** Removes JSON whitespace, in linear time by the lookbehind. `trim()` would remove a BOM too. */
function trimBlanks(text: string): string {
  return text.replace(/^[ \t\r\n]+|(?<![ \t\r\n])[ \t\r\n]+$/g, '');
}

function decodingsOf(body: Uint8Array): Value[] {
  return ['utf-8', 'utf-16le', 'utf-16be'].flatMap((encoding) => {
    const text = tryDecode(() => new TextDecoder(encoding, { ignoreBOM: true }).decode(body));
    return [text, text?.replace(/^\ufeff/, '')];
  });
}

function* parsedVariants(json: string, body: Uint8Array): Generator<Variant> {
  const parsed = parseJson(json);
  if (typeof parsed !== 'object' || parsed === null) {
    yield* variantsOf('body_reserialized', body, typeof parsed === 'string' ? [parsed] : []);
    return;
  }
  yield* variantsOf('body_buffer', body, [writtenBytes(parsed)]);
  for (const value of valuesIn(parsed)) {
    const written = typeof value === 'string' ? value : JSON.stringify(value);
    yield* variantsOf('body_enveloped', body, [written, fromBase64(written)]);
  }
  yield* variantsOf('body_reserialized', body, writings(json));
}

/** The most values of an envelope to try: a stranger's body can have thousands. */
const MOST_VALUES = 32;

/** Returns the texts, objects and lists within a value, the outer ones first. */
function valuesIn(parsed: object): unknown[] {
  const found: unknown[] = [parsed];
  for (const each of found) {
    if (found.length > MOST_VALUES || typeof each !== 'object') continue;
    const inner: unknown[] = Object.values(each!);
    found.push(...inner.filter((value) => value !== null && /object|string/.test(typeof value)));
  }
  return found.slice(1, MOST_VALUES);
}

/** Returns the bytes if the value is the JSON of a Buffer or a Uint8Array. */
function writtenBytes(parsed: object): Uint8Array | undefined {
  const { type, data } = parsed as { readonly type?: unknown; readonly data?: unknown };
  const list = type === 'Buffer' && Array.isArray(data) ? data : parsed;
  const items = Object.entries(list as Record<string, number>);
  const areBytes = items.every(
    ([key, byte], at) => key === String(at) && Number.isInteger(byte) && byte >= 0 && byte < 256,
  );
  return areBytes ? Uint8Array.from(items, ([, byte]) => byte) : undefined;
}
