import { parseJson } from './variants.js';

type Escape = (json: string) => string;

const unicode: Escape = (character) =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
const asIs: Escape = (json) => json;
const ascii: Escape = (json) => json.replace(/[\x7f-\uffff]/g, unicode);
const slashes: Escape = (json) => json.replaceAll('/', '\\/');
const html: Escape = (json) => json.replace(/[<>&\u2028\u2029]/g, unicode);
const capitals: Escape = (json) =>
  json.replace(/[<>&'+`\x7f-\uffff]/g, (each) => `\\u${unicode(each).slice(2).toUpperCase()}`);

/** How a library writes JSON. */
type Library = readonly [colon: string, comma: string, indent: string, escape: Escape];

// oxfmt-ignore
const LIBRARIES: readonly Library[] = [
  // JavaScript, with indentation and without, and Ruby
  [':', ',', '', asIs], ...['  ', '    ', '\t'].map((each): Library => [': ', ',', each, asIs]),
  // Python, and databases
  [': ', ', ', '', ascii], [': ', ', ', '', asIs], [': ', ',', '    ', ascii],
  // PHP
  [':', ',', '', (json) => slashes(ascii(json))], [':', ',', '', slashes], [':', ',', '', ascii],
  // Go, .NET, and Jackson
  [':', ',', '', html], [':', ',', '', capitals], [' : ', ',', '  ', asIs],
];
const NUMBERS: readonly ((digits: string) => string)[] = [
  (digits) => digits,
  (digits) => String(Number(digits)),
  (digits) => (/^-?\d+$/.test(digits) ? `${digits}.0` : digits),
  (digits) => Number(digits).toFixed(2),
  (digits) => `"${digits}"`,
];

type Member = readonly [key: string, value: unknown];

const byKey = ([a]: Member, [b]: Member): number => (a < b ? -1 : 1);
/** As Go and Python sort keys, and as jsonb and MySQL do. */
const SORTS: readonly ((a: Member, b: Member) => number)[] = [
  byKey,
  (a, b) => a[0].length - b[0].length || byKey(a, b),
];

/** Indentation makes deeper values hundreds of times longer. */
const DEEPEST = 32;

/** Objects with more keys have too many orders. */
const MOST_KEYS = 5;

/**
 * Yields a JSON text as other libraries write it, then with its keys in other orders.
 *
 * @throws RangeError if the value is nested too deeply
 */
export function* writings(json: string): Generator<string> {
  // The digits of a number stay, as a text with a mark.
  const marked = json.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
    token.startsWith('"') ? token : `"\\u0000${token}"`,
  );
  const parsed = parseJson(marked);
  if (typeof parsed === 'string') yield parsed;
  if (typeof parsed !== 'object' || parsed === null) return;
  for (const value of [parsed, ...SORTS.map((sort) => sortKeys(marked, sort))])
    for (const number of NUMBERS)
      for (const library of LIBRARIES) {
        const written = write(value, library, number);
        yield* [written, `${written}\n`];
      }
  const members = Object.entries(parsed);
  if (members.length > MOST_KEYS) return;
  // JavaScript, and Python with ASCII.
  for (const library of [LIBRARIES[0]!, LIBRARIES[4]!])
    for (const order of permutationsOf(members))
      yield write(Object.fromEntries(order), library, NUMBERS[0]!);
}

function sortKeys(json: string, sort: (typeof SORTS)[number]): unknown {
  return JSON.parse(json, (_, value: unknown) =>
    typeof value !== 'object' || value === null || Array.isArray(value)
      ? value
      : Object.fromEntries(Object.entries(value).sort(sort)),
  );
}

function permutationsOf<Item>(items: readonly Item[]): Item[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((first) =>
    permutationsOf(items.filter((each) => each !== first)).map((rest) => [first, ...rest]),
  );
}

function write(value: unknown, library: Library, number: (typeof NUMBERS)[number], depth = 1) {
  const [colon, comma, indent, escape] = library;
  if (typeof value === 'string' && value.startsWith('\0')) return number(value.slice(1));
  if (typeof value !== 'object' || value === null) return escape(JSON.stringify(value));
  if (depth > DEEPEST) throw new RangeError('nested too deeply');
  const isList = Array.isArray(value);
  const items = Object.entries(value).map(([key, inner]): string => {
    const item = write(inner, library, number, depth + 1);
    return isList ? item : escape(JSON.stringify(key)) + colon + item;
  });
  const [open, close] = isList ? '[]' : '{}';
  if (items.length === 0 || indent === '') return open! + items.join(comma) + close!;
  const line = `\n${indent.repeat(depth)}`;
  return `${open}${line}${items.join(comma + line)}\n${indent.repeat(depth - 1)}${close}`;
}
