/**
 * Makes untrusted text safe to show. A reference or a reply can hold invisible control characters
 * that move a terminal's cursor or turn a page's writing direction. A person would then read a text
 * that was never sent.
 */

// Persian, Indic scripts and emoji need the joiners, which affect only their neighbours.
const ACTING = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

export interface Piece {
  readonly text: string;
  /** Set if the text names an invisible control character: `U+202E`. */
  readonly isSign: boolean;
}

/** Splits a text at its invisible control characters. */
export function piecesOf(text: string, keep = ''): Piece[] {
  const pieces: Piece[] = [];
  let plain = '';
  for (const character of text) {
    if (!ACTING.test(character) || keep.includes(character)) {
      plain += character;
      continue;
    }
    if (plain !== '') pieces.push({ text: plain, isSign: false });
    plain = '';
    pieces.push({ text: nameOf(character), isSign: true });
  }
  if (plain !== '') pieces.push({ text: plain, isSign: false });
  return pieces;
}

/** Returns a text that a terminal only shows. Keeps line breaks. */
export function toTerminal(text: string): string {
  return piecesOf(text, '\n')
    .map(({ text: piece, isSign }) => (isSign ? `<${piece}>` : piece))
    .join('');
}

/** Quotes a text for a message. */
export function quote(text: string): string {
  return toTerminal(JSON.stringify(text));
}

function nameOf(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
}
