import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { anchorsOf } from '../../docs/.vitepress/links.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
  .trim()
  .split('\n');
/** Files, and the folders that hold them: both have a page in the repository. */
const paths = new Set(
  tracked.flatMap((path) =>
    path.split('/').map((_part, index, parts) => parts.slice(0, index + 1).join('/')),
  ),
);
const pages = new Map(
  tracked
    .filter((path) => path.endsWith('.md'))
    .map((path) => [path, readFileSync(posix.join(root, path), 'utf8')]),
);

/** A fence, a code span, a comment, or a link or picture in Markdown or HTML. */
const LINK =
  /^(`{3,}).*?^\1$|<!--.*?-->|\]\(([^)\s]+)\)|(`+)(?!`).+?(?<!`)\3(?!`)|\s(?:href|src)="([^"]+)"/gms;

/** Returns the relative links of a page that lead to no file of the repository, or to no anchor. */
function brokenIn(page: string, markdown: string): string[] {
  return Array.from(markdown.matchAll(LINK), ([, , link, , attribute]) => link ?? attribute ?? '')
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [file = '', anchor] = target.split('#');
      const path = file === '' ? page : posix.join(posix.dirname(page), file).replace(/\/$/, '');
      if (!paths.has(path)) return true;
      const text = path === page ? markdown : pages.get(path);
      return anchor !== undefined && text !== undefined && !anchorsOf(text).has(anchor);
    })
    .map((target) => `${page}: ${target}`);
}

describe('the Markdown files of the repository', () => {
  it('have only relative links that lead to a file and an anchor of the repository', () => {
    expect(pages.size).toBeGreaterThan(80);
    expect([...pages].flatMap(([page, markdown]) => brokenIn(page, markdown))).toEqual([]);
  });

  it('are reported if a link leads to no file, or to no anchor', () => {
    const links = [
      '[a](nowhere.md) [b](errors.md#nothing) [c](#none) <a href="start/none.html">d</a>',
      '[e](errors.md#body_consumed) [f](../packages) `[g](none.md)` [`h`](none.ts)',
    ];
    expect(brokenIn('docs/faq.md', links.join('\n\n'))).toEqual([
      'docs/faq.md: nowhere.md',
      'docs/faq.md: errors.md#nothing',
      'docs/faq.md: #none',
      'docs/faq.md: start/none.html',
      'docs/faq.md: none.ts',
    ]);
  });
});
