/** What a SQL text says, as far as the store must know before the text is sent. The server's own answer is the proof. */

/** Comments, quoted texts and names, dollar quotes, semicolons, words. A text that never closes its quote ends with it. */
const TOKEN =
  /--[^\n]*|\/\*|[eE]'(?:[^'\\]|\\[^]|'')*'?|'(?:[^']|'')*'?|"(?:[^"]|"")*"?|\$(?:[^\W\d]\w*)?\$|;|[\w\u0080-\uffff][\w$\u0080-\uffff]*|[^]/gy;
const WORD = /^[\w\u0080-\uffff]/;
const CONTROL_WORD = /\b(?:begin|start|commit|end|abort|rollback|prepare)\b/i;
const BEGINS = /^(?:begin|start transaction)\b/;
// Not ROLLBACK TO, which only goes back to a savepoint.
const ENDS = /^(?:commit|end|abort|rollback|prepare transaction)\b(?! (?:(?:work|transaction) )?to\b)/;

/** Whether what is given to `client.query` begins or ends a transaction, by its last statement that does either. */
export function controlOf(query: unknown): 'begins' | 'ends' | undefined {
  const text = textOf(query);
  // Most texts have none of these words and need no closer look.
  if (text === undefined || !CONTROL_WORD.test(text)) return undefined;
  let control: 'begins' | 'ends' | undefined;
  for (const head of headsOf(text)) {
    if (BEGINS.test(head)) control = 'begins';
    else if (ENDS.test(head)) control = 'ends';
  }
  return control;
}

/** The SQL of what drivers take: a text, a config with `text`, a cursor or stream, the parts of a tagged template. */
export function textOf(query: unknown): string | undefined {
  if (typeof query === 'string') return query;
  if (Array.isArray(query)) return query.join('$');
  const { text, cursor } = (query ?? {}) as { readonly text?: unknown; readonly cursor?: { readonly text?: unknown } };
  const found = text ?? cursor?.text;
  return typeof found === 'string' ? found : undefined;
}

/** The first three words of each statement, in lower case. */
function headsOf(text: string): string[] {
  const heads: string[][] = [[]];
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const [token] = match;
    if (token === ';') heads.push([]);
    else if (token === '/*') TOKEN.lastIndex = endOfComment(text, TOKEN.lastIndex);
    else if (token.length > 1 && token.startsWith('$')) TOKEN.lastIndex = endAfter(text, token, TOKEN.lastIndex);
    else if (WORD.test(token) && heads.at(-1)!.length < 3) heads.at(-1)!.push(token.toLowerCase());
  }
  return heads.map((words) => words.join(' '));
}

/** Block comments nest. */
function endOfComment(text: string, start: number): number {
  const edge = /\/\*|\*\//g;
  edge.lastIndex = start;
  for (let depth = 1; depth > 0;) {
    const match = edge.exec(text);
    if (match === null) return text.length;
    depth += match[0] === '/*' ? 1 : -1;
  }
  return edge.lastIndex;
}

function endAfter(text: string, closing: string, start: number): number {
  const end = text.indexOf(closing, start);
  return end < 0 ? text.length : end + closing.length;
}
