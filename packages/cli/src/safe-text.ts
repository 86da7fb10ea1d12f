/**
 * Text for a terminal. Text from outside (a reference, a URL, a server's reply) can hold escape
 * sequences, which move the cursor, recolour, or turn the reading direction. A reader would then
 * see a text that was never sent. Here everything is escaped unless this program itself styled it,
 * and the types tell the two apart.
 */
import stringWidth from 'string-width';

// Control and format characters with the bidirectional ones, unpaired surrogates, line and
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

/**
 * JSON whose text is as safe: the same characters stand as JSON's own escapes, so that the value
 * stays the same.
 */
export function safeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(UNSAFE, (characters) =>
    // JSON.stringify has escaped those within strings: a bare one is its own indentation.
    characters === '\n'
      ? characters
      : Array.from({ length: characters.length }, (_, at) =>
          unicodeEscape(characters.charCodeAt(at)),
        ).join(''),
  );
}

function unicodeEscape(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}

/** Text that is safe to write as it is: escaped, and perhaps with colours of ours. */
export class SafeText {
  constructor(
    readonly value: string,
    /** How many columns of a terminal it takes. */
    readonly width: number,
  ) {}
}

/** A string is from outside until it has been escaped. */
export type Printable = string | number | SafeText;

export function toSafe(part: Printable): SafeText {
  if (part instanceof SafeText) return part;
  const value = escapeText(String(part));
  return new SafeText(value, lengthOf(value));
}

/** A template whose parts are escaped: text`paid ${reference}`. */
export function text(fixed: TemplateStringsArray, ...parts: Printable[]): SafeText {
  const safe = parts.map(toSafe);
  const width = [...fixed.map(lengthOf), ...safe.map((part) => part.width)].reduce(
    (sum, length) => sum + length,
    0,
  );
  return new SafeText(String.raw({ raw: fixed }, ...safe.map(({ value }) => value)), width);
}

/** In columns of a terminal: wide characters take two, combining ones none. */
function lengthOf(value: string): number {
  return stringWidth(value);
}
