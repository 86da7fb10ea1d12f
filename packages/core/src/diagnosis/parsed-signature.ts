import { fromHex, isBytes, toHex } from '../bytes.js';
import type { DiagnosisCode } from './codes.js';
import { attempt, fromBase64, toLatin1 } from './variants.js';

/** The digits in a signature header, and the faults of its form. */
export interface ParsedSignature {
  /** Lower-case hex of any length. Empty if the header has no digits to compare. */
  readonly digits: string;
  readonly codes: readonly DiagnosisCode[];
  readonly fits: (mac: string) => boolean;
}

// A longer text is never a signature, and some expressions below are not linear.
const LONGEST = 1_000;
// Fewer digits could match by chance.
const FEWEST_DIGITS = 8;
/** The digits of MD5, SHA-1, SHA-224, SHA-384 and SHA-512. */
const OTHER_HASHES = [32, 40, 56, 96, 128];

/** What other services and tools put around a signature. */
const MARKS: readonly (readonly [RegExp, DiagnosisCode])[] = [
  [/^[\s\u200b\ufeff]+|[\s\u200b\ufeff]+$|\p{Cf}/gu, 'signature_blanks'],
  [/^\\?["'`<“‘«]|\\?["'`>”’»]$/g, 'signature_quoted'],
  [/^(?:x-service-signature|signature|bearer|digest)\s*[:=\s]\s*/i, 'signature_prefixed'],
  [/^(?:t=\d+,)?(?:(?:hmac[-_]?)?sha-?256|v\d+|hmac)[=:,\s]\s*/i, 'signature_prefixed'],
  [/^(?:0x|base64:|hex:)/i, 'signature_prefixed'],
  [/^\\?["'`]|\\?["'`]$/g, 'signature_quoted'],
  [/(?<!\.)[;,.]$/, 'signature_extended'],
  [/(?<=[0-9a-f]{2})[:\s-](?=[0-9a-f]{2}(?:[:\s-]|$|[0-9a-f]))/gi, 'signature_blanks'],
];

export function parseSignature(signature: unknown): ParsedSignature {
  const list = [signature].flat().filter((value) => value !== undefined && value !== null);
  // The commas of `t=…,v1=…` and `v1,…` belong to one signature.
  const texts = list.flatMap((value) => {
    if (isBytes(value)) return value.length === 32 ? toHex(value) : toLatin1(value);
    return typeof value === 'string' ? value.split(/(?<!^v\d),(?!v\d|\s*$)/) : [];
  });
  const isForeign = texts.join('').length > LONGEST || (list.length > 0 && texts.length === 0);
  if (isForeign) return withoutDigits('signature_malformed');
  if (texts.every((text) => /^\s*(undefined|null|none)?\s*$/i.test(text)))
    return withoutDigits('signature_missing');
  const all = texts.map(parseSpelling);
  if (all.length === 1 && isBytes(signature))
    return { ...all[0]!, codes: ['signature_malformed', ...all[0]!.codes] };
  if (all.length === 1) return all[0]!;
  return {
    digits: all.map(({ digits }) => digits).join(''),
    codes: ['signature_repeated'],
    fits: (mac) => all.some(({ fits }) => fits(mac)),
  };
}

function withoutDigits(code: DiagnosisCode): ParsedSignature {
  return { digits: '', codes: [code], fits: () => false };
}

function parseSpelling(signature: string): ParsedSignature {
  const codes: DiagnosisCode[] = [];
  let text = signature.includes('%')
    ? (attempt(() => decodeURIComponent(signature)) ?? signature)
    : signature;
  if (text !== signature) codes.push('signature_quoted');
  for (const [mark, code] of MARKS) {
    const bare = text.replace(mark, '');
    if (bare !== text && !codes.includes(code)) codes.push(code);
    text = bare;
  }
  const encoded = digitsIn(text);
  if (encoded !== undefined) {
    return {
      digits: encoded,
      codes: [...codes, 'signature_base64'],
      fits: (mac) => mac === encoded,
    };
  }
  // Pages and logs shorten a value in its middle or at its end.
  const [head = '', tail = ''] = text.split(/…|\.{2,}|\*+/);
  const spelling = /^[0-9a-f]*/i.exec(head)![0] + (/[0-9a-f]*$/i.exec(tail)?.[0] ?? '');
  const digits = spelling.toLowerCase();
  const isHex = /^[0-9a-f]+$/i.test(head + tail);
  if (digits.length < (isHex ? FEWEST_DIGITS : 64)) return withoutDigits('signature_malformed');
  if (spelling !== digits) codes.push('signature_uppercase');
  if (isHex && OTHER_HASHES.includes(digits.length)) codes.push('signature_algorithm');
  else if (digits.length < 64) codes.push('signature_truncated');
  else if (text.length > 64) codes.push('signature_extended');
  const [start, end] = [head.toLowerCase(), tail.toLowerCase()];
  const fits = (mac: string): boolean =>
    end === ''
      ? mac.startsWith(digits) || mac.endsWith(digits) || digits.includes(mac)
      : mac.startsWith(start) && mac.endsWith(end);
  return { digits, codes, fits };
}

/** Decodes base64, or hex or base64 of the digits. */
function digitsIn(text: string): string | undefined {
  for (const bytes of [fromBase64(text), fromHex(text)]) {
    if (bytes === undefined) continue;
    const inner = toLatin1(bytes);
    if (/^[0-9a-f]{64}$/i.test(inner)) return inner.toLowerCase();
    if (bytes.length === 32 && !/^[0-9a-f]{64}$/i.test(text)) return toHex(bytes);
  }
  return undefined;
}
