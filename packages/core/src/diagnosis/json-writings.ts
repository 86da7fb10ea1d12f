/** A JSON value as other libraries write it. Nothing here recurses, and all of it can pause: a stranger chooses the value. */
import type { Budget } from './budget.js';

/** How one JSON library writes: JavaScript's by default. */
interface Style {
  readonly colon: string;
  readonly comma: string;
  readonly indent: string;
  readonly escape: (json: string) => string;
  readonly float: boolean;
  readonly end: string;
}

const asIs = (json: string): string => json;
const unicode = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
const ascii = (json: string): string => json.replace(/[\x7f-\uffff]/g, unicode);
const slashes = (json: string): string => json.replaceAll('/', '\\/');
const ESCAPES = [
  ascii, // Python
  slashes,
  (json: string) => slashes(ascii(json)), // PHP
  (json: string) => json.replace(/[<>&\u2028\u2029]/g, unicode), // Go
  (json: string) =>
    json.replace(
      /[<>&'+`\x7f-\uffff]/g,
      (character) => `\\u${unicode(character).slice(2).toUpperCase()}`,
    ), // .NET
];
const SPACINGS = [
  { colon: ':', comma: ',', indent: '' },
  { colon: ': ', comma: ', ', indent: '' },
  { colon: ': ', comma: ',', indent: '  ' },
  { colon: ': ', comma: ',', indent: '    ' },
  { colon: ': ', comma: ',', indent: '\t' },
];

/**
 * The ways in which `parsed` can be written, in UTF-8, the plainest first. Each takes the place of the one before.
 *
 * @param length of the text that it was parsed from
 * @returns whether all of them were written
 */
export async function* writings(
  parsed: unknown,
  length: number,
  budget: Budget,
): AsyncGenerator<Uint8Array, boolean> {
  const unsorted = await flatten(parsed, false, budget);
  const sorted = await flatten(parsed, true, budget);
  if (unsorted === undefined || sorted === undefined) return false;

  // Most values have no whole number, nothing to escape, or sorted keys: a change without an effect is not tried.
  const isSorted = unsorted.every(({ text }, index) => text === sorted[index]!.text);
  const hasInteger = unsorted.some(({ kind }) => kind === 'integer');
  const texts = unsorted.filter(({ kind }) => kind === 'text').map(({ text }) => text);
  const orders = isSorted ? [unsorted] : [unsorted, sorted];
  const floats = new Set([false, hasInteger]);
  const escapes = await distinctEscapes(texts, budget);
  // Indented four deep a text grows to five times its length at most. A text that grows more is nested to cost time.
  const space = new Uint8Array(6 * length + 4_096);
  let complete = true;
  for (const end of ['', '\n']) {
    for (const float of floats) {
      for (const escape of escapes) {
        for (const items of orders) {
          for (const spacing of SPACINGS) {
            const written = await write(items, { ...spacing, escape, float, end }, space, budget);
            if (written === undefined) complete = false;
            else yield space.subarray(0, written);
          }
        }
      }
    }
  }
  return complete;
}

async function distinctEscapes(
  texts: readonly string[],
  budget: Budget,
): Promise<readonly Style['escape'][]> {
  const distinct = [asIs];
  for (const escape of ESCAPES) {
    // For each of those before, whether some text has shown the difference.
    const differs = distinct.map(() => false);
    for (const text of texts) {
      if (!(await budget.take(text.length))) return distinct;
      const escaped = escape(text);
      for (const [index, other] of distinct.entries()) differs[index] ||= escaped !== other(text);
      if (!differs.includes(false)) break;
    }
    if (!differs.includes(false)) distinct.push(escape);
  }
  return distinct;
}

/** A bracket, a value that has none, or a piece of a text or key. */
interface Item {
  readonly depth: number;
  /** The text in front of it: behind its key a colon, behind another item a comma and a line, behind a bracket a line. */
  readonly before: 'colon' | 'comma' | 'line' | undefined;
  readonly text: string;
  readonly kind: 'text' | 'integer' | undefined;
}

// So many items or characters are written between two looks at the budget.
const ITEMS_AT_ONCE = 64;
const CHARACTERS_AT_ONCE = 1_024;

/** @returns undefined where it is nested too deeply, or the budget is used up. */
async function flatten(
  parsed: unknown,
  sorted: boolean,
  budget: Budget,
): Promise<Item[] | undefined> {
  const items: Item[] = [];
  const open: {
    readonly container: object;
    readonly keys: readonly string[] | undefined;
    readonly size: number;
    at: number;
  }[] = [];

  const addText = (text: string, before: Item['before']): void => {
    const json = JSON.stringify(text);
    for (let at = 0; at < json.length;) {
      let end = at + CHARACTERS_AT_ONCE;
      // Between the halves of a surrogate pair it could not be encoded.
      if (/[\udc00-\udfff]/.test(json.charAt(end))) end--;
      items.push({
        depth: open.length,
        before: at === 0 ? before : undefined,
        text: json.slice(at, end),
        kind: 'text',
      });
      at = end;
    }
  };
  const add = (value: unknown, before: Item['before']): void => {
    if (typeof value === 'string') {
      addText(value, before);
      return;
    }
    const place = { depth: open.length, before };
    if (typeof value !== 'object' || value === null) {
      items.push({
        ...place,
        text: JSON.stringify(value),
        kind: Number.isSafeInteger(value) ? 'integer' : undefined,
      });
      return;
    }
    const keys = Array.isArray(value) ? undefined : Object.keys(value);
    // By code units, as most libraries do, and without a function of ours for each pair.
    if (sorted) keys?.sort();
    const size = keys?.length ?? (value as unknown[]).length;
    const [opening, close] = keys === undefined ? '[]' : '{}';
    items.push({ ...place, text: size === 0 ? opening! + close! : opening!, kind: undefined });
    if (size > 0) open.push({ container: value, keys, size, at: 0 });
  };

  add(parsed, undefined);
  for (let round = 1; open.length > 0; round++) {
    if (open.length > budget.depth) return undefined;
    if (round % ITEMS_AT_ONCE === 0 && !(await budget.take(ITEMS_AT_ONCE))) return undefined;
    const inner = open.at(-1)!;
    const { container, keys, size, at } = inner;
    if (at === size) {
      open.pop();
      items.push({
        depth: open.length,
        before: 'line',
        text: keys === undefined ? ']' : '}',
        kind: undefined,
      });
      continue;
    }
    inner.at++;
    const before = at === 0 ? 'line' : 'comma';
    const key = keys?.[at] ?? at;
    if (keys !== undefined) addText(String(key), before);
    add(
      (container as Record<string | number, unknown>)[key],
      keys === undefined ? before : 'colon',
    );
  }
  return items;
}

/** @returns how many bytes it has written, or undefined where there is no space, or the budget is used up. */
async function write(
  items: readonly Item[],
  style: Style,
  space: Uint8Array,
  budget: Budget,
): Promise<number | undefined> {
  const { colon, comma, indent, escape, float, end } = style;
  const encoder = new TextEncoder();
  let written = 0;
  // In pieces of bytes, since a long text in many small pieces costs the garbage collector more than the writing.
  let text = '';
  const flush = async (): Promise<boolean> => {
    const encoded = encoder.encodeInto(text, space.subarray(written));
    const isWhole = encoded.read === text.length;
    text = '';
    written += encoded.written;
    return isWhole && budget.take(encoded.written);
  };
  for (const [index, { depth, before, kind, text: json }] of items.entries()) {
    if (before === 'colon') text += colon;
    if (before === 'comma') text += comma;
    if (indent !== '' && (before === 'comma' || before === 'line'))
      text += `\n${indent.repeat(depth)}`;
    text += kind === 'text' ? escape(json) : json;
    if (kind === 'integer' && float) text += '.0';
    const isDue = text.length > CHARACTERS_AT_ONCE || index % ITEMS_AT_ONCE === 0;
    if (isDue && !(await flush())) return undefined;
  }
  text += end;
  return (await flush()) ? written : undefined;
}
