/** The output format of a JSON library. */
interface Style {
  readonly spacing: Spacing;
  readonly escape: (json: string) => string;
  readonly isSorted: boolean;
  readonly hasFloats: boolean;
}
type Spacing = readonly [colon: string, comma: string, indent: string];

const unicode = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
const ascii = (json: string): string => json.replace(/[\x7f-\uffff]/g, unicode);
const slashes = (json: string): string => json.replaceAll('/', '\\/');
const dotNet = (character: string): string => `\\u${unicode(character).slice(2).toUpperCase()}`;

const ESCAPES: readonly Style['escape'][] = [
  (json) => json, // JavaScript
  ascii, // Python
  slashes,
  (json) => slashes(ascii(json)), // PHP
  (json) => json.replace(/[<>&\u2028\u2029]/g, unicode), // Go
  (json) => json.replace(/[<>&'+`\x7f-\uffff]/g, dotNet),
];
const COMPACT: Spacing = [':', ',', ''];
const PYTHON: Spacing = [': ', ', ', ''];
const INDENTED = ['  ', '    ', '\t'].map((indent): Spacing => [': ', ',', indent]);
const SPACINGS = [COMPACT, PYTHON, ...INDENTED];

/** Indentation makes deeper values hundreds of times longer. */
const DEEPEST = 64;

/**
 * Writes a parsed value as JSON libraries do, the simplest format first.
 *
 * @throws RangeError if the value has more than 64 levels of nesting
 */
export function* writings(parsed: unknown): Generator<string> {
  const plain = { spacing: COMPACT, escape: ESCAPES[0]!, isSorted: false, hasFloats: false };
  const sorted = write(parsed, { ...plain, isSorted: true });
  const unsorted = write(parsed, plain);
  // Most values are already sorted, or have no integers and nothing to escape. Skips equal
  // writings.
  const orders = sorted === unsorted ? [false] : [false, true];
  const floats = /(?<![.\w+-])-?\d+(?![.\w])/.test(unsorted) ? [false, true] : [false];
  const escapes = [...new Map(ESCAPES.map((escape) => [escape(unsorted), escape])).values()];
  const styles = floats.flatMap((hasFloats) =>
    escapes.flatMap((escape) => orders.map((isSorted) => ({ escape, isSorted, hasFloats }))),
  );
  for (const end of ['', '\n']) {
    for (const style of styles) {
      for (const spacing of SPACINGS) yield write(parsed, { ...style, spacing }) + end;
    }
  }
}

function write(value: unknown, style: Style, depth = 1): string {
  const { escape, isSorted, hasFloats } = style;
  if (typeof value === 'string') return escape(JSON.stringify(value));
  if (typeof value !== 'object' || value === null) {
    return JSON.stringify(value) + (hasFloats && Number.isSafeInteger(value) ? '.0' : '');
  }
  if (depth > DEEPEST) throw new RangeError('nested too deeply');
  const [colon, comma, indent] = style.spacing;
  const isList = Array.isArray(value);
  const keys = Object.keys(value);
  // Most libraries sort by code units.
  if (isSorted && !isList) keys.sort();
  const items = keys.map((key) => {
    const item = write((value as Record<string, unknown>)[key], style, depth + 1);
    return isList ? item : escape(JSON.stringify(key)) + colon + item;
  });
  const [open, close] = isList ? '[]' : '{}';
  if (items.length === 0 || indent === '') return open! + items.join(comma) + close!;
  const line = `\n${indent.repeat(depth)}`;
  return `${open}${line}${items.join(comma + line)}\n${indent.repeat(depth - 1)}${close}`;
}
