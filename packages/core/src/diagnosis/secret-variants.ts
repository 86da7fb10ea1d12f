import { FIXTURES } from '../secret.js';
import type { DiagnosisCode } from './codes.js';
import { toText } from '../bytes.js';
import { fromHex, toHex } from '../bytes.js';
import { fromBase64, toBase64 } from './encodings.js';
import { variantsOf, type Variant } from './variants.js';

/** Returns the keys that the signer may have used, given the receiver's secret. */
export function secretVariants(secret: Uint8Array): Variant[] {
  const text = toText(secret);
  const variants: Variant[] = [];
  const add = (code: DiagnosisCode, ...values: (string | Uint8Array | undefined)[]): void => {
    variants.push(...variantsOf(code, secret, ...values));
  };
  if (text !== undefined) {
    const trimmed = text.trim();
    // A shell or a .env file can turn a line break into the two characters \ and n.
    add(
      'secret_blanks',
      trimmed,
      trimmed.replace(/(\\r|\\n)+$/, ''),
      `${text}\n`,
      `${text}\r\n`,
      `${text} `,
      ` ${text}`,
    );
    add('secret_quoted', trimmed.replace(/^(["'`])(.*)\1$/s, '$2'), `"${text}"`, `'${text}'`);
    add(
      'secret_assignment',
      trimmed.replace(/^(export\s+)?[A-Z_][A-Z0-9_]*\s*[=:]\s*(["']?)(.*)\2$/is, '$3'),
    );
    add('secret_invisible', withoutInvisible(text), withoutInvisible(text).trim());
    add('secret_quoted', trimmed.replace(/^[“”„‘’«‹]+\s?|\s?[“”‘’»›]+$/g, ''));
    add('secret_json', ...valuesIn(trimmed));
    add(
      'secret_escaped',
      trimmed.replaceAll('\\$', '$'),
      trimmed.replaceAll('$$', '$'),
      trimmed.replace(/\\(.)/gs, '$1'),
    );
    add(
      'secret_percent',
      decoded(trimmed),
      decoded(trimmed.replaceAll('+', ' ')),
      encodeURIComponent(trimmed),
    );
    const bare = trimmed.replace(/^whsec_/, '');
    add('secret_encoding', fromHex(bare), fromBase64(bare), bare);
  }
  add(
    'secret_encoding',
    toHex(secret),
    toHex(secret).toUpperCase(),
    toBase64(secret),
    toBase64(secret).replaceAll('=', ''),
  );
  add('secret_fixture', ...FIXTURES);
  return variants;
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
function valuesIn(text: string, depth = 2): string[] {
  if (depth === 0 || !/^[{["]/.test(text) || text.length > LONGEST_JSON) return [];
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return [];
  }
  const values = typeof parsed === 'object' ? Object.values(parsed ?? {}) : [parsed];
  const texts = values
    .filter((value): value is string => typeof value === 'string')
    .slice(0, MOST_VALUES);
  return texts.flatMap((value) => [value, ...valuesIn(value, depth - 1)]).slice(0, MOST_VALUES);
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
