import { toHex } from '../bytes.js';
import type { DiagnosisCode } from './codes.js';
import { fromBase64 } from './decode.js';

/** A signature header, with the faults of its form. */
export interface ParsedSignature {
  readonly codes: readonly DiagnosisCode[];
  /** Compares with a MAC in lower-case hex. Missing if the header has no digits to compare. */
  readonly fits?: (mac: string) => boolean;
}

const LONGEST = 1_000;

export function parseSignature(signature: unknown): ParsedSignature {
  const lines = [signature ?? ''].flat();
  if (lines.every((line) => typeof line === 'string')) return parseText(lines.join(', '));
  return { codes: ['signature_malformed'] };
}

function parseText(text: string): ParsedSignature {
  if (/^(undefined|null|\s*)$/.test(text)) return { codes: ['signature_missing'] };
  if (text.length > LONGEST) return { codes: ['signature_malformed'] };
  const digits = /[0-9a-f]{64}/i.exec(text)?.[0];
  if (digits === undefined) {
    const bytes = fromBase64(text);
    if (bytes?.length !== 32) return { codes: ['signature_malformed'] };
    return { codes: ['signature_base64'], fits: (mac) => mac === toHex(bytes) };
  }
  const codes: DiagnosisCode[] = [];
  if (text !== digits) codes.push('signature_extended');
  if (digits !== digits.toLowerCase()) codes.push('signature_uppercase');
  return { codes, fits: (mac) => text.toLowerCase().includes(mac) };
}
