/**
 * Links between files of the repository, as they must read on the site, where only pages and their
 * pictures are.
 */
import { posix } from 'node:path';
import GithubSlugger from 'github-slugger';

/**
 * Where the repository is published; the same variables as scripts/manifest.mjs reads. Unknown
 * until then.
 */
const { GITHUB_REPOSITORY, GITHUB_SERVER_URL = 'https://github.com' } = process.env;
const REPOSITORY =
  GITHUB_REPOSITORY === undefined
    ? undefined
    : `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}/blob/main`;

/** The READMEs that are pages, by their path in the repository. reference.ts copies them. */
export function pageOfReadme(path: string): string | undefined {
  const [, name] = /^(?:packages\/|lab\/)?([^/]+)(?:\/README\.md|\/)?$/.exec(path) ?? [];
  if (path === 'README.md') return 'docs/reference/overview.md';
  return name !== undefined && (path.startsWith('packages/') || name === 'bench')
    ? `docs/reference/${name}.md`
    : undefined;
}

/**
 * Rewrites the relative links of a markdown file: to a page where there is one, else to the
 * repository, and to plain text while that address is not known yet. Code is left alone.
 *
 * @param file the file's path in the repository
 * @param page the path of the page that it becomes: another one for a README
 */
export function withSiteLinks(markdown: string, file: string, page = file): string {
  // A fence, a code span or a link, whichever comes first.
  return markdown.replace(
    /^(`{3,}).*?^\1$|(`+)(?!`).+?(?<!`)\2(?!`)(?!\]\()|(!?\[)((?:`[^`]*`|[^\]`])*)\]\(([^)\s]+)\)/gms,
    (whole: string, _fence, _span, opening: string | undefined, text: string, target: string) => {
      if (opening === undefined || /^([a-z]+:|#|\/)/.test(target)) return whole;
      const [path = '', anchor] = target.split('#');
      const inRepository = posix.normalize(posix.join(posix.dirname(file), path));
      const found =
        pageOfReadme(inRepository) ?? (inRepository.startsWith('docs/') ? inRepository : undefined);
      // The site serves the pictures at its root.
      if (inRepository.startsWith('docs/public/'))
        return `${opening}${text}](${inRepository.slice('docs/public'.length)})`;
      const suffix = anchor === undefined ? '' : `#${anchor}`;
      if (found !== undefined) return `${opening}${text}](${relative(page, found)}${suffix})`;
      return REPOSITORY === undefined
        ? text
        : `${opening}${text}](${REPOSITORY}/${inRepository}${suffix})`;
    },
  );
}

function relative(from: string, to: string): string {
  const path = posix.relative(posix.dirname(from), to);
  return path.startsWith('.') ? path : `./${path}`;
}

/** Returns the anchors of a markdown file: those of its headings, and its own. */
export function anchorsOf(markdown: string): Set<string> {
  const slugger = new GithubSlugger();
  const prose = markdown.replace(/^```.*?^```$/gms, '');
  const headings = Array.from(prose.matchAll(/^#+ (.+)$/gm), ([, heading]) =>
    slugger.slug(heading!.replaceAll('\\', '')),
  );
  const named = Array.from(prose.matchAll(/<a id="([^"]+)">/g), ([, id]) => id!);
  return new Set([...headings, ...named]);
}
