import { toText } from '../bytes.js';
import type { Budget } from './budget.js';
import type { DiagnosisCode } from './codes.js';
import { writings } from './json-writings.js';
import { fromBase64, fromLatin1, parseJson, toLatin1, variantsOf } from './variants.js';
import type { Value, Variant } from './variants.js';

type Variants = AsyncGenerator<Variant, boolean>;
type Change = readonly [DiagnosisCode, (text: string, body: Uint8Array) => Value];

/** Usual changes to a text. */
const TEXTS: readonly Change[] = [
  ['body_newline', (text) => text.replace(/\r?\n$/, '')],
  ['body_newline', (text) => `${text}\n`],
  ['body_newline', (text) => `${text}\r\n`],
  ['body_newline', (text) => trimBlanks(text)],
  ['body_newline', (text) => `${trimBlanks(text)}\n`],
  ['body_newline', (text) => ` ${text}`],
  ['body_newline', (text) => `${text} `],
  ['body_line_breaks', (text) => text.replace(/\r\n/g, '\n')],
  ['body_line_breaks', (text) => text.replace(/\r?\n/g, '\r\n')],
  ['body_bom', (text) => text.replace(/^\ufeff/, '')],
  ['body_bom', (text) => `\ufeff${text}`],
  ['body_base64', (text) => fromBase64(text)],
  // Undoes UTF-8 that was decoded as Latin-1 and encoded again.
  ['body_decoded', (text) => (/^[\0-\xff]*$/.test(text) ? fromLatin1(text) : undefined)],
  ['body_decoded', (_, body) => toLatin1(body)],
];

/** Usual changes to bytes that are not UTF-8. */
const BYTES: readonly Change[] = [
  ['body_decoded', (_, body) => toLatin1(body)],
  ['body_decoded', (_, body) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(body)],
];

/**
 * Yields the bytes that the sender may have signed, the simplest change first.
 *
 * @returns true if the budget sufficed for all variants
 */
export async function* bodyVariants(body: Uint8Array, budget: Budget): Variants {
  yield* variantsOf('body_empty', body, '');
  if (body.length > budget.text || !(await budget.take(body.length))) return false;
  const text = toText(body);
  for (const [code, change] of text === undefined ? BYTES : TEXTS) {
    if (!(await budget.take(body.length))) return false;
    yield* variantsOf(code, body, change(text ?? '', body));
  }
  if (text === undefined) return true;
  if (body.length > budget.parsed || !(await budget.take(body.length))) return false;
  return yield* parsedVariants(text, body, budget);
}

/** Removes JSON whitespace, in linear time by the lookbehind. `trim()` would remove a BOM too. */
function trimBlanks(text: string): string {
  return text.replace(/^[ \t\r\n]+|(?<![ \t\r\n])[ \t\r\n]+$/g, '');
}

async function* parsedVariants(text: string, body: Uint8Array, budget: Budget): Variants {
  const isByteList = /^\d{1,3}(,\d{1,3})+$/.test(text);
  const parsed = parseJson(isByteList ? `[${text}]` : text.replace(/^\ufeff/, ''));
  if (parsed === undefined) return true;
  if (typeof parsed === 'string') {
    yield* variantsOf('body_reserialized', body, parsed);
    return true;
  }
  const { body: enveloped } = Object(parsed) as { readonly body?: unknown };
  if (typeof enveloped === 'string') {
    yield* variantsOf('body_enveloped', body, enveloped, fromBase64(enveloped));
  }
  const bytes = writtenBytes(parsed);
  if (bytes !== undefined) {
    yield* variantsOf('body_buffer', body, bytes);
    return true;
  }
  try {
    for (const written of writings(parsed)) {
      if (!(await budget.take(written.length))) return false;
      yield* variantsOf('body_reserialized', body, written);
    }
  } catch {
    return false; // nested too deeply
  }
  return true;
}

/** Returns the bytes if the value is the JSON of a Buffer or a Uint8Array. */
function writtenBytes(parsed: unknown): Uint8Array | undefined {
  const { type, data } = Object(parsed) as { readonly type?: unknown; readonly data?: unknown };
  const list: unknown = type === 'Buffer' && Array.isArray(data) ? data : parsed;
  const items = Object.entries(Object(list) as Record<string, number>);
  const areBytes = items.every(
    ([key, byte], at) => key === String(at) && Number.isInteger(byte) && byte >= 0 && byte < 256,
  );
  return areBytes ? Uint8Array.from(items, ([, byte]) => byte) : undefined;
}
