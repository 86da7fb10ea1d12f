import { fromHex, toHex } from '../bytes.js';
import type { DiagnosisCode } from './codes.js';
import { tryDecode, fromBase64, toLatin1 } from './variants.js';

/** A signature header, with the faults of its form. */
export interface ParsedSignature {
  readonly codes: readonly DiagnosisCode[];
  /** Compares with a MAC in lower-case hex. Missing if the header has no digits to compare. */
  readonly fits?: (mac: string) => boolean;
}

// A longer text is never a signature, and some expressions below are not linear.
const LONGEST = 1_000;
// Fewer digits could match by chance.
const FEWEST_DIGITS = 8;
/** The digits of MD5, SHA-1, SHA-224, SHA-384 and SHA-512. */
const OTHER_HASHES = [32, 40, 56, 96, 128];

/** Marks that other services and tools put around a signature. */
const MARKS: readonly (readonly [RegExp, DiagnosisCode])[] = [
  [/^[\s\u200b\ufeff]+|[\s\u200b\ufeff]+$|\p{Cf}/gu, 'signature_blanks'],
  [/^\\?["'`<“‘«]|\\?["'`>”’»]$/g, 'signature_quoted'],
  [/^(?:x-service-signature|signature|bearer|digest)\s*[:=\s]\s*/i, 'signature_prefixed'],
  [/^(?:t=\d+,)?(?:(?:hmac[-_]?)?sha-?256|v\d+|hmac)[=:,\s]\s*/i, 'signature_prefixed'],
  [/^(?:0x|base64:|hex:)/i, 'signature_prefixed'],
  [/(?<!\.)[;,.]$/, 'signature_extended'],
  [/(?<=[0-9a-f]{2})[:\s-](?=[0-9a-f]{2}(?:[:\s-]|$|[0-9a-f]))/gi, 'signature_blanks'],
];

export function parseSignature(signature: unknown): ParsedSignature {
  const lines = [signature].flat().filter((line) => line !== undefined && line !== null);
  const isText = lines.every((line) => typeof line === 'string');
  if (!isText || lines.join('').length > LONGEST) return { codes: ['signature_malformed'] };
  // The commas of `t=…,v1=…` and `v1,…` belong to one signature.
  const texts = lines.flatMap((line) => line.split(/(?<!^v\d),(?!v\d|\s*$)/));
  if (texts.every((text) => /^\s*(undefined|null|none)?\s*$/i.test(text)))
    return { codes: ['signature_missing'] };
  const all = texts.map(parseSpelling);
  if (all.length === 1) return all[0]!;
  return { codes: ['signature_repeated'], fits: (mac) => all.some(({ fits }) => fits?.(mac)) };
}

function parseSpelling(signature: string): ParsedSignature {
  let text = tryDecode(() => decodeURIComponent(signature)) ?? signature;
  const codes: DiagnosisCode[] = text === signature ? [] : ['signature_quoted'];
  for (const [mark, code] of MARKS) {
    const bare = text.replace(mark, '');
    if (bare !== text && !codes.includes(code)) codes.push(code);
    text = bare;
  }
  const encoded = digitsIn(text);
  if (encoded !== undefined)
    return { codes: [...codes, 'signature_base64'], fits: (mac) => mac === encoded };
  // Pages and logs shorten a value in its middle or at its end.
  const [head = '', tail = ''] = text.split(/…|\.{2,}|\*+/);
  const spelling = /^[0-9a-f]*/i.exec(head)![0] + (/[0-9a-f]*$/i.exec(tail)?.[0] ?? '');
  const digits = spelling.toLowerCase();
  const isHex = /^[0-9a-f]+$/i.test(head + tail);
  if (digits.length < (isHex ? FEWEST_DIGITS : 64)) return { codes: ['signature_malformed'] };
  if (spelling !== digits) codes.push('signature_uppercase');
  if (isHex && OTHER_HASHES.includes(digits.length)) codes.push('signature_algorithm');
  else if (digits.length < 64) codes.push('signature_truncated');
  else if (text.length > 64) codes.push('signature_extended');
  const [start, end] = [head.toLowerCase(), tail.toLowerCase()];
  const fits = (mac: string): boolean =>
    end === ''
      ? mac.startsWith(digits) || mac.endsWith(digits) || digits.includes(mac)
      : mac.startsWith(start) && mac.endsWith(end);
  return { codes, fits };
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
