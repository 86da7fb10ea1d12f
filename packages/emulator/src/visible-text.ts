/**
 * Text from outside, made visible. A reference or a reply can hold signs that are not seen and still act: a terminal moves its
 * cursor, a page turns its direction of writing, and what is shown was never said.
 */

// The joiners are part of how Persian, Indic scripts and emoji are written, and act on their neighbours only.
const ACTING = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

export interface Piece {
  readonly text: string;
  /** Whether the text stands for a sign that acts: `U+202E`. */
  readonly isSign: boolean;
}

/** Cuts a text at the signs that act. */
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

/** A text that a terminal shows and does not act on; lines stay lines. */
export function toTerminal(text: string): string {
  return piecesOf(text, '\n')
    .map(({ text: piece, isSign }) => (isSign ? `<${piece}>` : piece))
    .join('');
}

/** A text in quotation marks, for a message. */
export function quote(text: string): string {
  return toTerminal(JSON.stringify(text));
}

function nameOf(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
}
