import { exec } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { startFakeMongod } from '../../examples/databases/test/fake-mongodb.js';
import { startSupabase } from '../../examples/databases/test/supabase-server.js';
import { installLines } from '../packaging/pack.js';
import { tarballs } from '../packaging/packed.js';
import { startMariaDb } from '../servers/mariadb.js';
import { startPostgres } from '../servers/postgres.js';
import { KINDS, type Kind } from './kinds.js';
import { linkPackages } from './packages.js';
import { newFolder, paylinkProcess } from '../../packages/cli/test/paylink.js';

/** `installed`: each kind, and each project runs the printed lines that install, without links. */
const IS_INSTALLED = process.env['PAYLINK_INIT'] === 'installed';
const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** The quick compiler, which includes all @types only on demand. The links lead to version 5.9. */
const TSC = IS_INSTALLED
  ? 'npx --no-install tsc'
  : `node ${at('node_modules/typescript/bin/tsc')} --types '*'`;

const PRISMA = { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' };

function shell(folder: string, env: Readonly<Record<string, string>>) {
  const home = newFolder();
  return async (line: string): Promise<string> => {
    const own = {
      PATH: process.env['PATH'],
      HOME: home,
      TMPDIR: home,
      ...PRISMA,
      NO_COLOR: '1',
      ...env,
    };
    const options = { cwd: folder, env: own as unknown as NodeJS.ProcessEnv };
    try {
      const { stdout, stderr } = await promisify(exec)(line, { ...options, maxBuffer: 1e8 });
      return stdout + stderr;
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`${line}\n${stdout}${stderr}`, { cause: error });
    }
  };
}

/** Starts the server of a database, and returns the variables that the project's test needs. */
async function startServer(server: Kind['server']): Promise<Record<string, string>> {
  if (server === undefined) return {};
  if (server === 'supabase') {
    const { url, secretKey, close } = await startSupabase();
    onTestFinished(close);
    return { TEST_SUPABASE_URL: url, TEST_SUPABASE_SECRET_KEY: secretKey };
  }
  const start = { postgres: startPostgres, mariadb: startMariaDb, mongodb: startFakeMongod }[
    server
  ];
  const { url, close } = await start();
  onTestFinished(close);
  return { [server === 'mongodb' ? 'TEST_MONGODB_URL' : 'TEST_DATABASE_URL']: url };
}

/** Returns the text of each file of the project, by its path. */
async function readAll(folder: string): Promise<Record<string, string>> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = names
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map(({ parentPath, name }) => join(parentPath, name));
  const texts = paths.map(async (path) => [path, await readFile(path, 'utf8')] as const);
  return Object.fromEntries(await Promise.all(texts));
}

it.each(Object.entries(KINDS).filter(([, { isPair }]) => IS_INSTALLED || isPair !== true))(
  'leads %s to a passing test by the printed lines, and a second run changes nothing',
  async (_, { manifest, files = {}, recipe, server, says }) => {
    const folder = await mkdtemp(join(tmpdir(), 'paylink-init-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    for (const [path, text] of Object.entries({
      'package.json': JSON.stringify(manifest),
      ...files,
    })) {
      await mkdir(join(folder, path, '..'), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    const env = await startServer(server);
    const run = shell(folder, env);
    if (!IS_INSTALLED) await linkPackages(folder);
    const isNode = !('dependencies' in manifest);
    const args = isNode ? ['--framework', 'node'] : [];

    const { code, stdout, stderr } = await paylinkProcess(['init', ...args], { cwd: folder });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`orders in ${recipe}\n`);
    const written = await readAll(folder);
    if (says !== undefined) expect(stdout).toContain(says);
    const orders = Object.entries(written).find(([path]) => /\/orders\.\w+$/.test(path))![1];
    expect(orders).toContain('createOrder');

    const lines = stdout.split('\n').map((line) => line.trim().replace(/ +# .*$/, ''));
    if (IS_INSTALLED) {
      await run('npm install --no-audit --no-fund --prefer-offline');
      for (const line of lines.filter((each) => /^(?:npm install|npx -y pnpm)/.test(each))) {
        const [, names] = /pack:all (.*)$/.exec(line) ?? [];
        const packed = names?.split(' ').map((name) => `@paylink/${name}`);
        await run(packed === undefined ? line : installLines(packed, tarballs())[0]!);
      }
    }
    for (const line of lines.filter((each) => each.endsWith('prisma generate'))) await run(line);
    if (recipe === 'prisma') {
      const client = new Client({ connectionString: env['TEST_DATABASE_URL']! });
      await client.connect();
      await client.query(await readFile(at('examples/databases/tables/postgres.sql'), 'utf8'));
      await client.end();
    }
    if ('tsconfig.json' in files) await run(`${TSC} --noEmit`);
    const test = lines.find((line) => /^(?:node|npx) .*webhook\.(?:test|spec)\.\w+$/.test(line))!;
    expect(await run(test)).toMatch(/# fail 0|^\s*Tests:? .*\d passed/m);

    const again = await paylinkProcess(['init', ...args], { cwd: folder });
    expect(again.stdout).toContain('Nothing to write.');
    const kept = await readAll(folder);
    for (const [path, text] of Object.entries(written))
      if (!IS_INSTALLED || !path.endsWith('package.json')) expect(kept[path]).toBe(text);
  },
  IS_INSTALLED ? 600_000 : 120_000,
);
