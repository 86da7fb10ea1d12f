/**
 * Writes examples/templates: what `paylink init` writes in an empty folder, with the versions of
 * this repository. `degit` and `giget` copy the folders. `pnpm raise` runs it after it has raised
 * the versions.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, ROOT } from './bootstrap.mjs';
import { publishedPackages } from './pack.mjs';

/** The name of each template, with its `--framework`. */
export const TEMPLATES = { express: 'express', next: 'next' };

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

/**
 * Writes each template into a folder of its name.
 *
 * @param {string} target
 */
export function writeTemplates(target) {
  for (const [name, framework] of Object.entries(TEMPLATES)) {
    const folder = mkdtempSync(join(tmpdir(), 'paylink-template-'));
    const command = join(ROOT, 'packages/cli/dist/main.js');
    const args = ['init', '--framework', framework, '--json'];
    const said = execFileSync(process.execPath, [command, ...args], { cwd: folder });
    const { packages } = JSON.parse(said.toString());
    const manifest = readJson(join(folder, 'package.json'));
    manifest.dependencies = withVersions(manifest.dependencies, packages.production);
    manifest.devDependencies = withVersions(manifest.devDependencies, packages.development);
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    writeFileSync(join(folder, 'README.md'), readmeOf(name));
    // Its secrets belong to one copy of the template.
    rmSync(join(folder, '.env'));
    rmSync(join(target, name), { recursive: true, force: true });
    mkdirSync(target, { recursive: true });
    cpSync(folder, join(target, name), { recursive: true });
    rmSync(folder, { recursive: true });
  }
}

function withVersions(known, missing) {
  const found = missing.map((name) => [
    name,
    `^${readJson(join(publishedPackages().get(name), 'package.json')).version}`,
  ]);
  const all = { ...known, ...Object.fromEntries(found) };
  return Object.fromEntries(Object.entries(all).sort(([one], [other]) => (one < other ? -1 : 1)));
}

const readmeOf = (name) => `# A shop that takes payments: ${name}

\`\`\`sh
npm install
npx --no-install paylink init                  # writes .env with new secrets
node ${name === 'next' ? '--env-file=.env --import tsx lib/' : '--import tsx '}create-orders-table.ts
npm run payments                               # the payment service on your machine
npm run dev                                    # another terminal: the shop
npm test
\`\`\`

${name === 'next' ? 'Open http://localhost:3000 and pay' : '`curl -X POST http://localhost:3000/checkout` creates an order and its payment link'}. Each order has one link.
`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await build(['@paylink/cli...']);
  writeTemplates(join(ROOT, 'examples/templates'));
}
