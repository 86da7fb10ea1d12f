import { fromHex, toHex, toText } from '../bytes.js';
import { FIXTURES } from '../secret.js';
import type { DiagnosisCode } from './codes.js';
import { fromBase64, orUndefined, parseJson, toLatin1, variantsOf } from './variants.js';
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
  const visible = withoutInvisible(text);
  const bare = trimmed.replace(/^whsec_/, '');
  const assigned = /^(export\s+)?[A-Z_][A-Z0-9_]*\s*[=:]\s*(["']?)(.*)\2$/is;
  // A shell or a .env file can turn a line break into the two characters \ and n.
  const unbroken = trimmed.replace(/(\\r|\\n)+$/, '');
  return [
    ['secret_blanks', trimmed, unbroken, `${text}\n`, `${text}\r\n`, `${text} `, ` ${text}`],
    ['secret_quoted', trimmed.replace(/^(["'`])(.*)\1$/s, '$2'), `"${text}"`, `'${text}'`],
    ['secret_assignment', trimmed.replace(assigned, '$3')],
    ['secret_invisible', visible, visible.trim()],
    ['secret_quoted', trimmed.replace(/^[“”„‘’«‹]+\s?|\s?[“”‘’»›]+$/g, '')],
    ['secret_json', ...textsIn(trimmed)],
    ['secret_escaped', trimmed.replaceAll('\\$', '$'), trimmed.replaceAll('$$', '$')],
    ['secret_escaped', trimmed.replace(/\\(.)/gs, '$1')],
    ['secret_percent', decoded(trimmed), decoded(trimmed.replaceAll('+', ' '))],
    ['secret_percent', encodeURIComponent(trimmed)],
    ['secret_encoding', fromHex(bare), fromBase64(bare), bare],
  ];
}

/** Removes zero-width characters, direction marks and soft hyphens. Replaces unusual spaces. */
function withoutInvisible(text: string): string {
  return text
    .replace(/[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]/g, '')
    .replace(/[\u00a0\u2000-\u200a\u202f]/g, ' ');
}

/** The JSON text of one secret has fewer values. */
const MOST_VALUES = 8;
const LONGEST_JSON = 4_096;

/** Returns the texts in a JSON text, and in JSON texts inside it. */
function textsIn(text: string, depth = 2): string[] {
  if (depth === 0 || !/^[{["]/.test(text) || text.length > LONGEST_JSON) return [];
  const parsed = parseJson(text);
  const values: unknown[] = typeof parsed === 'string' ? [parsed] : Object.values(parsed ?? {});
  const texts = values.filter((value) => typeof value === 'string').slice(0, MOST_VALUES);
  return texts.flatMap((value) => [value, ...textsIn(value, depth - 1)]).slice(0, MOST_VALUES);
}

function decoded(text: string): string | undefined {
  return orUndefined(() => decodeURIComponent(text));
}
