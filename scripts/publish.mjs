/**
 * Stages the packages from the release workflow: nobody can install them until a maintainer
 * approves them. First makes the links in their READMEs absolute, because relative links lead
 * nowhere on a registry's page.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT, run } from './bootstrap.mjs';
import { packAll } from './pack.mjs';

/** Knows `stage`, and adds provenance under a trusted publisher. */
const NPM = ['-y', 'npm@^11.15.0'];

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

/** All packages have one version, so one tag tells whether this version was staged. */
function isStaged() {
  const manifest = readFileSync(join(ROOT, 'packages', 'core', 'package.json'), 'utf8');
  const { name, version } = JSON.parse(manifest);
  const args = ['ls-remote', '--exit-code', '--tags', 'origin', `refs/tags/${name}@${version}`];
  return spawnSync('git', args).status === 0;
}

async function stage() {
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
  const tarballs = packAll(mkdtempSync(join(tmpdir(), 'paylink-release-')));
  for (const [name, tarball] of Object.entries(tarballs)) {
    if ((await run('npx', [...NPM, 'stage', 'publish', tarball])) !== 0)
      throw new Error(`${name} was not staged`);
  }
  // The workflow pushes these tags, and makes a release of each.
  process.exitCode = await run('npx', ['changeset', 'tag']);
}

if (process.argv[1] === fileURLToPath(import.meta.url) && !isStaged()) await stage();
