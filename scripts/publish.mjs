/**
 * Releases the version in the packages' manifests as far as possible, and finishes an earlier run:
 * stages each package that is neither public nor staged, keeps the ids in a draft release, and
 * publishes the draft with its tag as soon as every package is public. A staged package is
 * installable only after `npm stage approve`, so a rejected one leaves nothing public.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT, run } from './bootstrap.mjs';
import { packAll, publishedPackages } from './pack.mjs';

/** Knows `stage`. npx looks for seconds each time, so it looks once. */
const NPM = ['-y', '-p', 'npm@^11.15.0', 'which', 'npm'];

/** Leads to the CLI, so that no stranger takes the name that `npx paylink` looks for. */
const RESERVED = 'paylink';

// Matches a fence, a link or a code span, so that only links outside code change.
const LINK =
  /^(`{3,}).*?^\1$|(\[(?:`[^`]*`|[^\]`])*\]\()(?![a-z]+:|#)([^)\s]+)\)|(`+)(?!`).+?(?<!`)\4(?!`)/gms;

const readJson = (...path) => JSON.parse(readFileSync(join(ROOT, ...path), 'utf8'));

/**
 * Makes relative links absolute, because they lead nowhere on a registry's page.
 *
 * @param {string} markdown
 * @param {string} folder of the file, from the root of the repository
 * @param {string} tree the repository's address on the web at a tag
 */
export function withAbsoluteLinks(markdown, folder, tree) {
  return markdown.replace(LINK, (whole, _fence, opening, target) =>
    target === undefined ? whole : `${opening}${tree}/${posix.join(folder, target)})`,
  );
}

/** Packs every package, and the reserved name, into tarballs/. Returns paths by name. */
function pack(version, repository) {
  const folder = join(ROOT, 'tarballs');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const path of publishedPackages().values()) {
    const file = join(path, 'README.md');
    const tree = `${repository}/blob/v${version}`;
    const from = posix.relative(ROOT, path);
    writeFileSync(file, withAbsoluteLinks(readFileSync(file, 'utf8'), from, tree));
  }
  const reserved = join(folder, RESERVED);
  cpSync(join(ROOT, 'scripts', 'reserved-name'), reserved, { recursive: true });
  cpSync(join(ROOT, 'LICENSE'), join(reserved, 'LICENSE'));
  const { author, license, engines } = readJson('package.json');
  const own = readJson('scripts', 'reserved-name', 'package.json');
  const dependencies = { '@paylink/cli': version };
  const manifest = { ...own, version, author, license, engines, repository, dependencies };
  writeFileSync(join(reserved, 'package.json'), JSON.stringify(manifest, null, 2));
  return { ...packAll(folder), [RESERVED]: reserved };
}

/** Returns the changes of a version, each once. */
function changesOf(version) {
  const lines = [...publishedPackages().values()].flatMap((folder) => {
    const file = join(folder, 'CHANGELOG.md');
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const [, section = ''] = text.split(`\n## ${version}\n`);
    const [own] = section.split('\n## ');
    return own
      .split(/^- /m)
      .slice(1)
      .map((entry) => `- ${entry.split('\n###')[0].trim()}`);
  });
  const isOwn = (line) => !line.startsWith('- Updated dependencies');
  return [...new Set(lines)].filter(isOwn).join('\n');
}

async function github(path, method = 'GET', body = undefined) {
  const { GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_TOKEN } = process.env;
  const reply = await fetch(`${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}/releases${path}`, {
    method,
    headers: { authorization: `Bearer ${GITHUB_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!reply.ok) throw new Error(`GitHub answers ${reply.status} to ${method} /releases${path}`);
  return reply.json();
}

async function isPublic(name, version, registry) {
  const reply = await fetch(new URL(name.replace('/', '%2f'), registry));
  if (reply.status === 404) return false;
  if (!reply.ok) throw new Error(`the registry answers ${reply.status} for ${name}`);
  return Object.hasOwn((await reply.json()).versions, version);
}

/** Stages a tarball with this npm, and returns its id. */
async function stage(npm, name, tarball, registry) {
  const env = { ...process.env };
  if (env.NPM_STAGE_TOKEN) {
    // Until npm trusts this workflow, a token that can only stage. npm fills it in.
    env.npm_config_userconfig = join(ROOT, 'tarballs', '.npmrc');
    const line = `//${registry.host}/:_authToken=\${NPM_STAGE_TOKEN}\n`;
    writeFileSync(env.npm_config_userconfig, line);
  }
  // npm refuses provenance outside of CI.
  const provenance = env.GITHUB_ACTIONS ? ['--provenance'] : [];
  const args = ['stage', 'publish', tarball, '--access=public', '--json', ...provenance];
  const output = [];
  const stdio = ['ignore', 'pipe', 'inherit'];
  // Not spawnSync: the connection to GitHub would go stale unnoticed.
  const code = await run(npm, args, { env, stdio }, (piece) => output.push(piece));
  if (code !== 0) throw new Error(`${name} was not staged: run this again`);
  return /"stageId": "([^"]+)"/.exec(Buffer.concat(output).toString())[1];
}

async function release() {
  const { author, homepage, repository } = readJson('package.json');
  if (!author || !homepage || !repository)
    throw new Error('package.json has no author, homepage or repository: see CONTRIBUTING.md');
  const { version } = readJson('packages', 'core', 'package.json');
  const registry = new URL(
    spawnSync('npm', ['config', 'get', 'registry']).stdout.toString().trim(),
  );
  const names = [...publishedPackages().keys(), RESERVED];
  const sha = process.env.GITHUB_SHA;

  const releases = await github('?per_page=100');
  let found = releases.find(({ tag_name: tag }) => tag === `v${version}`);
  if (found?.draft === false) return console.log(`v${version} is released`);
  const staged = new Map(
    Array.from(
      found?.body.matchAll(/^npm stage approve (\S+) # (\S+)$/gm) ?? [],
      ([, id, name]) => [name, id],
    ),
  );
  const pending = [];
  for (const name of names) if (!(await isPublic(name, version, registry))) pending.push(name);
  const missing = pending.filter((name) => !staged.has(name));

  if (missing.length > 0) {
    if (found !== undefined && found.target_commitish !== sha)
      throw new Error(`v${version} was begun at ${found.target_commitish}: run that job again`);
    found ??= await github('', 'POST', {
      tag_name: `v${version}`,
      name: `v${version}`,
      target_commitish: sha,
      draft: true,
      body: '',
    });
    const tarballs = pack(version, repository);
    const npm = execFileSync('npx', NPM).toString().trim();
    for (const name of missing) {
      staged.set(name, await stage(npm, name, tarballs[name], registry));
      const commands = Array.from(staged, ([each, id]) => `npm stage approve ${id} # ${each}`);
      const body = `Not public yet. Approve, then run this workflow again:\n\n\`\`\`sh\n${commands.join('\n')}\n\`\`\`\n`;
      await github(`/${found.id}`, 'PATCH', { body });
    }
    if (process.env.GITHUB_OUTPUT)
      appendFileSync(process.env.GITHUB_OUTPUT, `staged=v${version}\n`);
  }
  if (pending.length > 0)
    return console.log(`v${version}: ${pending.length} of ${names.length} wait for their approval`);
  await github(`/${found.id}`, 'PATCH', { body: changesOf(version), draft: false });
  console.log(`v${version} is released`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await release();
