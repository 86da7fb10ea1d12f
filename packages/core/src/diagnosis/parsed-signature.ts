import { fromHex, toHex } from '../bytes.js';
import type { DiagnosisCode } from './codes.js';
import { fromBase64, toLatin1 } from './variants.js';

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
  [/^[\s\ufeff]+|[\s\ufeff]+$|\p{Cf}/gu, 'signature_blanks'],
  [/^\\?["'`<“]|\\?["'`>”]$/g, 'signature_quoted'],
  // Such as 0x, sha256=, v1, and the header's own name.
  [/^(?:0x|.*[=:,\s](?=[\w+/-]{40,}=*$))/is, 'signature_prefixed'],
  [/(?<!\.)[;,.]$/, 'signature_extended'],
  [/[:\s-](?=[0-9a-f]{2}(?:[:\s-]|$|[0-9a-f]))/gi, 'signature_blanks'],
];

export function parseSignature(signature: unknown): ParsedSignature {
  const lines = [signature].flat().filter((line) => line !== undefined && line !== null);
  const isText = lines.every((line) => typeof line === 'string');
  if (!isText || lines.join('').length > LONGEST) return { codes: ['signature_malformed'] };
  const texts = lines.flatMap((line) => line.split(/(?<=[0-9a-f]{64})\s*,\s*(?=\S)/i));
  if (texts.every((text) => /^\s*(undefined|null|none)?\s*$/i.test(text)))
    return { codes: ['signature_missing'] };
  const all = texts.map(parseSpelling);
  if (all.length === 1) return all[0]!;
  return { codes: ['signature_repeated'], fits: (mac) => all.some(({ fits }) => fits?.(mac)) };
}

function parseSpelling(signature: string): ParsedSignature {
  let text = signature;
  const codes: DiagnosisCode[] = [];
  for (const [mark, code] of MARKS) {
    const bare = text.replace(mark, '');
    if (bare !== text && !codes.includes(code)) codes.push(code);
    text = bare;
  }
  const encoded = digitsIn(text);
  if (encoded !== undefined)
    return { codes: [...codes, 'signature_base64'], fits: (mac) => mac === encoded };
  // Pages and logs shorten a value.
  const head = text.replace(/(?:…|\.\.|\*).*$/s, '');
  const spelling = /^[0-9a-f]*/i.exec(head)![0];
  const digits = spelling.toLowerCase();
  const { length } = digits;
  if (length < (length === head.length ? FEWEST_DIGITS : 64))
    return { codes: ['signature_malformed'] };
  if (spelling !== digits) codes.push('signature_uppercase');
  if (length === text.length && OTHER_HASHES.includes(length)) codes.push('signature_algorithm');
  else if (length < 64) codes.push('signature_truncated');
  else if (text.length > 64) codes.push('signature_extended');
  const fits = (mac: string): boolean =>
    mac.startsWith(digits) || mac.endsWith(digits) || digits.includes(mac);
  return { codes, fits };
}

/** Decodes base64, or hex or base64 of the digits. */
function digitsIn(text: string): string | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return undefined;
  for (const bytes of [fromBase64(text), fromHex(text)]) {
    if (bytes?.length === 32) return toHex(bytes);
    const inner = toLatin1(bytes ?? new Uint8Array()).toLowerCase();
    if (/^[0-9a-f]{64}$/.test(inner)) return inner;
  }
  return undefined;
}
