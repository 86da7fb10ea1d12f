/** The output format of a JSON library. */
interface Style {
  readonly colon: string;
  readonly comma: string;
  readonly indent: string;
  readonly escape: (json: string) => string;
  readonly isSorted: boolean;
  readonly hasFloats: boolean;
}

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
const COMPACT = { colon: ':', comma: ',', indent: '' };
const SPACINGS = [
  COMPACT,
  { colon: ': ', comma: ', ', indent: '' }, // Python
  { colon: ': ', comma: ',', indent: '  ' },
  { colon: ': ', comma: ',', indent: '    ' },
  { colon: ': ', comma: ',', indent: '\t' },
];

/** Indentation makes deeper values hundreds of times longer. */
const DEEPEST = 64;

/**
 * Writes a parsed value as JSON libraries do, the simplest format first.
 *
 * @throws RangeError if the value has more than 64 levels of nesting
 */
export function* writings(parsed: unknown): Generator<string> {
  const plain = { ...COMPACT, escape: ESCAPES[0]!, isSorted: false, hasFloats: false };
  const sorted = write(parsed, { ...plain, isSorted: true });
  const unsorted = write(parsed, plain);
  // Most values are already sorted, or have no integers and nothing to escape. Skips equal
  // writings.
  const orders = sorted === unsorted ? [false] : [false, true];
  const floats = /(?<![.\w+-])-?\d+(?![.\w])/.test(unsorted) ? [false, true] : [false];
  const escapes = new Map(ESCAPES.map((escape) => [escape(unsorted), escape])).values();
  const styles = [...escapes].flatMap((escape) => orders.map((isSorted) => ({ escape, isSorted })));
  for (const end of ['', '\n']) {
    for (const hasFloats of floats) {
      for (const style of styles) {
        for (const spacing of SPACINGS)
          yield write(parsed, { ...spacing, ...style, hasFloats }) + end;
      }
    }
  }
}

function write(value: unknown, style: Style, depth = 1): string {
  const { colon, comma, indent, escape, isSorted, hasFloats } = style;
  if (typeof value === 'string') return escape(JSON.stringify(value));
  if (typeof value !== 'object' || value === null) {
    const isFloat = hasFloats && Number.isSafeInteger(value);
    return isFloat ? `${JSON.stringify(value)}.0` : JSON.stringify(value);
  }
  if (depth > DEEPEST) throw new RangeError('nested too deeply');
  const isList = Array.isArray(value);
  const keys = Object.keys(value);
  // Most libraries sort by code units.
  if (isSorted && !isList) keys.sort();
  const items = keys.map((key) => {
    const item = write((value as Record<string, unknown>)[key], style, depth + 1);
    return isList ? item : escape(JSON.stringify(key)) + colon + item;
  });
  const [open, close] = isList ? '[]' : '{}';
  if (items.length === 0) return open! + close!;
  if (indent === '') return open! + items.join(comma) + close!;
  const line = `\n${indent.repeat(depth)}`;
  return `${open}${line}${items.join(comma + line)}\n${indent.repeat(depth - 1)}${close}`;
}
