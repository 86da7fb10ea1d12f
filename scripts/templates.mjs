/**
 * Writes examples/templates: what `paylink init` writes in an empty folder, or copies of tested
 * files beside written ones, with the versions of this repository. `degit` and `giget` copy the
 * folders. `pnpm raise` runs it after it has raised the versions.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, ROOT } from './bootstrap.mjs';
import { publishedPackages } from './pack.mjs';

const COMMITTED = join(ROOT, 'examples/templates');

const SUPABASE = 'docs/start/supabase/supabase';
/** Tested files, by their paths in a template. */
const COPIES = {
  supabase: {
    'supabase/functions': `${SUPABASE}/functions`,
    'supabase/migrations': `${SUPABASE}/migrations`,
  },
  workers: {
    'src/orders.ts': 'examples/databases/d1.ts',
    'migrations/0001_orders.sql': 'examples/databases/tables/sqlite.sql',
  },
};

/** The name of each template. Two are frameworks of `paylink init`. */
export const TEMPLATES = ['express', 'next', ...Object.keys(COPIES)];

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

/**
 * Writes each template into a folder of its name.
 *
 * @param {string} target
 */
export function writeTemplates(target) {
  for (const name of TEMPLATES) {
    const folder = mkdtempSync(join(tmpdir(), 'paylink-template-'));
    const copies = COPIES[name];
    if (copies === undefined) {
      init(name, folder);
      cpSync(join(COMMITTED, name, 'README.md'), join(folder, 'README.md'));
    } else {
      cpSync(join(COMMITTED, name), folder, { recursive: true });
      for (const [path, source] of Object.entries(copies)) {
        rmSync(join(folder, path), { recursive: true, force: true });
        cpSync(join(ROOT, source), join(folder, path), { recursive: true });
      }
    }
    const file = join(folder, 'package.json');
    const manifest = readJson(file);
    manifest.dependencies = withVersions(manifest.dependencies);
    manifest.devDependencies = withVersions(manifest.devDependencies);
    writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
    rmSync(join(target, name), { recursive: true, force: true });
    cpSync(folder, join(target, name), { recursive: true });
    rmSync(folder, { recursive: true });
  }
}

/** Runs `paylink init`, and adds the packages that it names. */
function init(framework, folder) {
  const command = join(ROOT, 'packages/cli/dist/main.js');
  const args = ['init', '--framework', framework, '--json'];
  const said = execFileSync(process.execPath, [command, ...args], { cwd: folder });
  const { packages } = JSON.parse(said.toString());
  const file = join(folder, 'package.json');
  const manifest = readJson(file);
  for (const name of packages.production) manifest.dependencies[name] = '';
  for (const name of packages.development) manifest.devDependencies[name] = '';
  writeFileSync(file, JSON.stringify(manifest));
  // Its secrets belong to one copy of the template.
  rmSync(join(folder, '.env'));
}

/** Gives Paylink's packages the versions of this repository, and sorts. */
function withVersions(ranges) {
  const packages = publishedPackages();
  const all = Object.entries(ranges).map(([name, range]) => {
    const folder = packages.get(name);
    if (folder === undefined) return [name, range];
    return [name, `^${readJson(join(folder, 'package.json')).version}`];
  });
  return Object.fromEntries(all.sort(([one], [other]) => (one < other ? -1 : 1)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await build(['@paylink/cli...']);
  writeTemplates(COMMITTED);
}
