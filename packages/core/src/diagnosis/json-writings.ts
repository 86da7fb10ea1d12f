import { parseJson } from './decode.js';

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
/** JavaScript, and Python with ASCII. */
const FREQUENT = [LIBRARIES[0]!, LIBRARIES[4]!];

type WriteNumber = (digits: string) => string;
const asDigits: WriteNumber = (digits) => digits;
const NUMBERS: readonly WriteNumber[] = [
  (digits) => String(Number(digits)),
  (digits) => (/^-?\d+$/.test(digits) ? `${digits}.0` : digits),
  (digits) => Number(digits).toFixed(2),
];

/** Indentation makes deeper values hundreds of times longer. */
const DEEPEST = 32;

/**
 * Yields a JSON text as other libraries write it.
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
  for (const library of LIBRARIES) yield* endings(write(parsed, library, asDigits));
  for (const library of FREQUENT)
    for (const number of NUMBERS) yield* endings(write(parsed, library, number));
}

function endings(written: string): string[] {
  return [written, `${written}\n`];
}

function write(value: unknown, library: Library, number: WriteNumber, depth = 1): string {
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
