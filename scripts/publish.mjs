/**
 * Publishes the packages from the release workflow. First makes the links in their READMEs
 * absolute, because relative links lead nowhere on a registry's page.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT, run } from './bootstrap.mjs';

// Matches a fence, a link or a code span, so that only links outside code change.
const LINK =
  /^(`{3,}).*?^\1$|(\[(?:`[^`]*`|[^\]`])*\]\()(?![a-z]+:|#)([^)\s]+)\)|(`+)(?!`).+?(?<!`)\4(?!`)/gms;

/**
 * @param {string} markdown
 * @param {string} folder of the file, from the root of the repository
 * @param {string} repository its address on the web
 */
export function withAbsoluteLinks(markdown, folder, repository) {
  return markdown.replace(LINK, (whole, _fence, opening, target) =>
    target === undefined
      ? whole
      : `${opening}${repository}/blob/main/${posix.join(folder, target)})`,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { GITHUB_REPOSITORY, GITHUB_SERVER_URL = 'https://github.com' } = process.env;
  if (GITHUB_REPOSITORY === undefined)
    throw new Error('GITHUB_REPOSITORY names the repository that the links lead to');
  for (const name of readdirSync(join(ROOT, 'packages'))) {
    const file = join(ROOT, 'packages', name, 'README.md');
    const markdown = readFileSync(file, 'utf8');
    writeFileSync(
      file,
      withAbsoluteLinks(markdown, `packages/${name}`, `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`),
    );
  }
  process.exitCode = await run('npx', ['changeset', 'publish']);
}
