import { closest, distance } from 'fastest-levenshtein';

/** Letters that a misspelt word may differ in. */
const MOST = 4;

/** Returns the known word that a misspelt word was meant to be. */
export function suggestionFor(word: string, known: readonly string[]): string | undefined {
  const nearest = closest(word.toLowerCase(), known);
  return distance(word.toLowerCase(), nearest) <= Math.min(MOST, nearest.length / 3)
    ? nearest
    : undefined;
}
