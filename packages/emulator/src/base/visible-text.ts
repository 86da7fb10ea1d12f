/**
 * Names the invisible control characters of untrusted text: `‹U+202E›`. They could move a
 * terminal's cursor or turn a page's writing direction.
 *
 * @param keep control characters that stay unchanged
 */
export function toVisible(text: string, keep = ''): string {
  return text.replace(ACTING, (character) =>
    keep.includes(character) ? character : nameOf(character),
  );
}

// Persian, Indic scripts and emoji need the joiners, which affect only their neighbours.
const ACTING = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

function nameOf(character: string): string {
  return `‹U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}›`;
}

/** Quotes a text for a message. */
export function quote(text: string): string {
  return toVisible(JSON.stringify(text));
}
