/**
 * Escapes text for a terminal. A reference, a URL or a server's reply can hold escape sequences
 * that move the cursor, recolour text or turn the reading direction, and a reader would see a text
 * that was never sent. This module escapes every text that this program did not style itself, and
 * the types tell the two apart.
 */

// Control and format characters including the bidirectional ones, unpaired surrogates, line and
// paragraph separators.
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Writes characters that a terminal would obey or hide as `\x1b`, `\u202e` or `\u{e0041}`. */
export function escapeText(text: string): string {
  return text.replace(UNSAFE, (character) => {
    const code = character.codePointAt(0)!;
    const hex = code.toString(16);
    if (code < 0x100) return `\\x${hex.padStart(2, '0')}`;
    return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`;
  });
}

/** Returns JSON that is safe to print. It uses JSON's own escapes, so the value stays the same. */
export function safeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(UNSAFE, (character) => {
    // JSON.stringify escapes line breaks in strings, so a bare one is indentation.
    if (character === '\n') return character;
    const units = Array.from(character.split(''), (unit) => unit.charCodeAt(0));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
  });
}

/** Text that is safe to print: escaped, and possibly styled by this program. */
export class SafeText {
  constructor(readonly value: string) {}
}

/** A string counts as untrusted until it is escaped. */
export type Printable = string | number | SafeText;

export function toSafe(part: Printable): SafeText {
  return part instanceof SafeText ? part : new SafeText(escapeText(String(part)));
}

/** A template that escapes its parts: text`paid ${reference}`. */
export function text(fixed: TemplateStringsArray, ...parts: Printable[]): SafeText {
  const values = parts.map((part) => toSafe(part).value);
  return new SafeText(String.raw({ raw: fixed }, ...values));
}
