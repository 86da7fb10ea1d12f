/** What the site shows beyond plain markdown: tables as cards on phones, and named code blocks. */
import { join, relative } from 'node:path';
import taskLists from 'markdown-it-task-lists';
import type { MarkdownOptions, MarkdownRenderer } from 'vitepress';
import { nameOfCode } from './code.js';
import { DOCS } from './pages.js';

const ROOT = join(DOCS, '..');

type Core = Parameters<MarkdownRenderer['core']['ruler']['push']>[1];

/** Each cell carries the name of its column, which a card shows beside it. */
const nameCells: Core = ({ tokens }) => {
  let names: string[] = [];
  let column = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'thead_open') names = [];
    if (token.type === 'tr_open') column = 0;
    if (token.type === 'th_open') names.push(tokens[index + 1]!.content.replaceAll('`', ''));
    if (token.type === 'td_open') token.attrSet('data-name', names[column++] ?? '');
  }
};

/**
 * French has a space inside « » and before the high marks, where no line may break. The sources
 * have plain spaces, which editors can see and anchors keep.
 */
const joinFrenchMarks: Core = ({ tokens, env }) => {
  const { relativePath } = env as { readonly relativePath?: string };
  if (relativePath?.startsWith('fr/') !== true) return;
  for (const { children } of tokens)
    for (const child of children ?? [])
      if (child.type === 'text')
        child.content = child.content.replace(/(?<=«) | (?=[»:;?!])/g, '\u00A0');
};

/** A first line that is a comment with the path of a file. */
const FILE_NAME = /^(?:\/\/|#|--) ([\w@.()[\]/-]+\.\w+)\n+/;
/** Languages of blocks that a command prints. */
const OUTPUT = /^(?:text|console)?$/;

/** The label of a block in a group. */
const TAB = /\[.+\]/;

/** A block, or the file that `<<< path` includes. */
type Fence = ReturnType<MarkdownRenderer['parse']>[number] & { readonly src?: readonly [string] };

/** Returns the name of an included file. That of a host's project is as in the reader's. */
const nameOf = (path: string): string =>
  nameOfCode(relative(ROOT, path)).replace(/^lab\/hosts\/projects\/[\w-]+\/(?=.)/, '');

/** Moves the path of a file from the code's first line into a heading of the block. */
function nameBlocks(md: MarkdownRenderer): void {
  const fence = md.renderer.rules.fence!;
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index] as Fence;
    const [line, named] = FILE_NAME.exec(token.content) ?? [];
    if (line !== undefined) token.content = token.content.slice(line.length);
    const name = token.src === undefined ? named : nameOf(token.src[0]);
    // The renderer takes the label away.
    const hasTab = TAB.test(token.info);
    const html = fence(tokens, index, options, env, self);
    if (name === undefined)
      return OUTPUT.test(token.info.trim()) ? `<div class="output">${html}</div>` : html;
    const heading = `<p class="file-name">${md.utils.escapeHtml(name)}</p>`;
    // The tabs of a group show and hide the block itself, so its name must be in it.
    if (hasTab) return html.replace(/^<div[^>]*>/, (block) => block + heading);
    return `<div class="file">${heading}${html}</div>`;
  };
}

export const extendMarkdown: NonNullable<MarkdownOptions['config']> = (md) => {
  md.use(taskLists, { label: true });
  md.core.ruler.push('name_cells', nameCells);
  // The anchors of headings exist by now.
  md.core.ruler.push('join_french_marks', joinFrenchMarks);
  nameBlocks(md);
};
