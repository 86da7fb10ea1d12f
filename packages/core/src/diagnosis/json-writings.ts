/** The output format of a JSON library. */
interface Style {
  readonly spacing: readonly [colon: string, comma: string, indent: string];
  readonly escape: (json: string) => string;
  readonly order: (keys: readonly string[]) => readonly string[];
  readonly number: (digits: string) => string;
}

const unicode = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
const capitals = (character: string): string => `\\u${unicode(character).slice(2).toUpperCase()}`;
const ascii = (json: string): string => json.replace(/[\x7f-\uffff]/g, unicode);
const slashes = (json: string): string => json.replaceAll('/', '\\/');

// JavaScript, Python, PHP twice, Go, Gson, .NET.
const ESCAPES: readonly Style['escape'][] = [
  (json) => json,
  ascii,
  slashes,
  (json) => slashes(ascii(json)),
  (json) => json.replace(/[<>&\u2028\u2029]/g, unicode),
  (json) => json.replace(/[<>&='\u2028\u2029]/g, unicode),
  (json) => json.replace(/[<>&'+`\x7f-\uffff]/g, capitals),
];
// JavaScript, Python, Jackson, and indented.
const SPACINGS: readonly Style['spacing'][] = [
  [':', ',', ''],
  [': ', ', ', ''],
  [' : ', ',', '  '],
  ...['  ', '    ', '\t'].map((indent) => [': ', ',', indent] as const),
];
// As given, sorted by code units, and as jsonb and MySQL sort.
const ORDERS: readonly Style['order'][] = [
  (keys) => keys,
  (keys) => [...keys].sort(),
  (keys) => [...keys].sort((a, b) => a.length - b.length || (a < b ? -1 : 1)),
];
const isWhole = (digits: string): boolean => /^-?\d+$/.test(digits);
const NUMBERS: readonly Style['number'][] = [
  (digits) => digits,
  (digits) => String(Number(digits)),
  (digits) => (isWhole(digits) ? `${digits}.0` : digits),
  (digits) => Number(digits).toFixed(2),
  (digits) => `"${digits}"`,
  (digits) => Number(digits).toExponential().replace('+', ''),
];
// oxfmt-ignore
const PLAIN: Style = {
  spacing: SPACINGS[0]!, escape: ESCAPES[0]!, order: ORDERS[0]!, number: NUMBERS[0]!,
};

/** Indentation makes deeper values hundreds of times longer. */
const DEEPEST = 32;
/** Objects with more keys have too many orders. */
const MOST_KEYS = 5;

/**
 * Yields a JSON text as other libraries write it, the simplest format first.
 *
 * @throws RangeError if the value is nested too deeply
 */
export function* writings(json: string): Generator<string> {
  for (const text of [json, json.replace(/"(-?\d+(?:\.\d+)?)"(?!\s*:)/g, '$1')]) {
    // The digits of a number stay, as a text with a mark.
    const marked = text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
      token.startsWith('"') ? token : `"\\u0000${token}"`,
    );
    const parsed: unknown = JSON.parse(marked);
    // Many texts have no number, or nothing to escape or to sort: skips equal formats.
    const differing = <Key extends keyof Style>(key: Key, values: readonly Style[Key][]) => [
      ...new Map(values.map((each) => [write(parsed, { ...PLAIN, [key]: each }), each])).values(),
    ];
    const [escapes, orders] = [differing('escape', ESCAPES), differing('order', ORDERS)];
    for (const number of differing('number', NUMBERS))
      for (const escape of escapes)
        for (const order of orders)
          for (const spacing of SPACINGS) {
            const written = write(parsed, { number, escape, order, spacing });
            yield* [written, `${written}\n`];
          }
    const keys = Object.keys(Object(parsed) as object);
    for (const permutation of keys.length > MOST_KEYS ? [] : permutationsOf(keys)) {
      const order: Style['order'] = (all) => (all.join() === keys.join() ? permutation : all);
      for (const spacing of SPACINGS.slice(0, 2)) yield write(parsed, { ...PLAIN, spacing, order });
    }
  }
}

function permutationsOf(keys: readonly string[]): string[][] {
  if (keys.length === 0) return [[]];
  return keys.flatMap((first) =>
    permutationsOf(keys.filter((each) => each !== first)).map((rest) => [first, ...rest]),
  );
}

function write(value: unknown, style: Style, depth = 1): string {
  if (typeof value === 'string' && value.startsWith('\0')) return style.number(value.slice(1));
  if (typeof value !== 'object' || value === null) return style.escape(JSON.stringify(value));
  if (depth > DEEPEST) throw new RangeError('nested too deeply');
  const [colon, comma, indent] = style.spacing;
  const isList = Array.isArray(value);
  const items = style.order(Object.keys(value)).map((key) => {
    const item = write((value as Record<string, unknown>)[key], style, depth + 1);
    return isList ? item : style.escape(JSON.stringify(key)) + colon + item;
  });
  const [open, close] = isList ? '[]' : '{}';
  if (items.length === 0 || indent === '') return open! + items.join(comma) + close!;
  const line = `\n${indent.repeat(depth)}`;
  return `${open}${line}${items.join(comma + line)}\n${indent.repeat(depth - 1)}${close}`;
}
