import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { TEMPLATES, writeTemplates } from '../../scripts/templates.mjs';
import { withItsOwn } from '../packaging/pack.js';
import { tarballs } from '../packaging/packed.js';

const COMMITTED = fileURLToPath(new URL('../../examples/templates', import.meta.url));
const isFull = process.env['PAYLINK_INIT'] === 'installed';

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'paylink-templates-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function readAll(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    files
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [path.slice(folder.length), readFileSync(path, 'utf8')]),
  );
}

it('keeps the templates as scripts/templates.mjs writes them', () => {
  const folder = newFolder();
  writeTemplates(folder);
  expect(readAll(COMMITTED)).toEqual(readAll(folder));
});

it.each(isFull ? Object.keys(TEMPLATES) : ['express'])(
  'leads a copy of the template %s to a passing test by its README',
  (name) => {
    const folder = newFolder();
    cpSync(join(COMMITTED, name), folder, { recursive: true });
    const path = join(folder, 'package.json');
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as Record<
      string,
      Record<string, string>
    >;
    const { dependencies = {}, devDependencies = {} } = manifest;
    const named = Object.keys({ ...dependencies, ...devDependencies });
    const ours = withItsOwn(named.filter((each) => each.startsWith('@paylink/')));
    for (const each of ours) {
      // No registry has them yet.
      const kind = each in devDependencies ? devDependencies : dependencies;
      kind[each] = `file:${tarballs()[each]!}`;
    }
    writeFileSync(path, JSON.stringify(manifest));
    const run = (line: string): string =>
      execFileSync('bash', ['-euc', line], {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, npm_config_audit: 'false', npm_config_prefer_offline: 'true' },
      }).toString();
    const [, lines = ''] = /```sh\n(.*?)```/s.exec(
      readFileSync(join(folder, 'README.md'), 'utf8'),
    )!;
    const steps = lines.trim().split('\n');
    const ended = steps.filter((line) => !/^npm run (?:payments|dev)/.test(line)).map(run);
    expect(ended.at(-1)).toContain('# fail 0');
  },
  300_000,
);
