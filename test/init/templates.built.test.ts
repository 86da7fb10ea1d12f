import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { TEMPLATES, writeTemplates } from '../../scripts/templates.mjs';
import { startReader, stepsOf, type StandIns } from '../docs/quick-start.js';
import { startSupabaseProject } from '../docs/supabase/project.js';
import { withItsOwn } from '../packaging/pack.js';
import { tarballs } from '../packaging/packed.js';
import { install } from '../runtimes/install.js';
import { nodes } from '../runtimes/versions.js';
import { freePort } from '../servers/starting.js';

const COMMITTED = fileURLToPath(new URL('../../examples/templates', import.meta.url));
/** `published`: the packages are in the registry. */
const MODE = process.env['PAYLINK_INIT'];

function readAll(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    files
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]),
  );
}

it('keeps the templates as scripts/templates.mjs writes them', () => {
  const folder = mkdtempSync(join(tmpdir(), 'paylink-templates-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeTemplates(folder);
  expect(readAll(COMMITTED)).toEqual(readAll(folder));
});

type Ranges = Record<string, string>;

/** Replaces Paylink's packages with tarballs, because no registry has them yet. */
function withTarballs(text: string): string {
  const manifest = JSON.parse(text) as Record<'dependencies' | 'devDependencies', Ranges>;
  const { dependencies, devDependencies } = manifest;
  const named = Object.keys({ ...dependencies, ...devDependencies });
  for (const name of withItsOwn(named.filter((each) => each.startsWith('@paylink/'))))
    (name in devDependencies ? devDependencies : dependencies)[name] = `file:${tarballs()[name]!}`;
  return JSON.stringify(manifest);
}

async function standInsFor(name: string): Promise<StandIns> {
  if (name === 'supabase') {
    const { gatewayPort, command, close } = await startSupabaseProject();
    onTestFinished(close);
    return { ports: { 54321: gatewayPort }, packages: { 'supabase@2': command } };
  }
  if (name !== 'workers') return {};
  const node22 = await install(nodes.find(({ version }) => version.startsWith('22.'))!);
  if ('missing' in node22) throw new Error(node22.missing);
  return { ports: { 8787: await freePort() }, node: dirname(node22.executable) };
}

it.each(MODE === undefined ? ['express'] : TEMPLATES)(
  'leads a copy of the template %s to a passing test and a payment by its README',
  async (name) => {
    const standIns = await standInsFor(name);
    const reader = await startReader(standIns);
    onTestFinished(() => reader.close());
    const { 'README.md': page = '', ...files } = readAll(join(COMMITTED, name));
    for (const [path, text] of Object.entries(files)) {
      const isManifest = path === 'package.json';
      const given = isManifest && MODE !== 'published' ? withTarballs(text) : text;
      const { 'supabase@2': command } = standIns.packages ?? {};
      const written = given.replace(/("supabase": ?)"[^"]+"/, `$1"file:${command!}"`);
      // `init` writes over no file that differs, so this one keeps its ports.
      await reader.do({ kind: 'file', path, text: written });
      if (path.endsWith('payment-test-settings.ts'))
        writeFileSync(join(reader.folder, path), written);
    }
    // The ports of the page may be in use.
    await reader.do({
      kind: 'file',
      path: '.env',
      text: 'PAYLINK_BASE_URL=http://127.0.0.1:4010/api\n',
    });
    const steps = page
      .replace('npm run payments', 'npm run payments -- --port 4010')
      .replace('npm run dev', 'PORT=3000 npm run dev');
    for (const step of stepsOf(steps)) await reader.do(step);
  },
  300_000,
);
