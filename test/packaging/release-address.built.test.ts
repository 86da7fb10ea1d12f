/** Checks that a build in the release workflow knows its repository. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

it('a release build links its log lines to the repository that releases it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'paylink-release-'));
  const tsup = join(ROOT, 'node_modules', 'tsup', 'dist', 'cli-default.js');
  const env = {
    ...process.env,
    GITHUB_REPOSITORY: 'owner/name',
    GITHUB_SERVER_URL: 'https://git.example',
  };
  execFileSync(process.execPath, [tsup, '--no-dts', '--out-dir', folder], {
    cwd: join(ROOT, 'packages', 'core'),
    env,
  });
  for (const format of ['.js', '.cjs']) {
    const files = readdirSync(folder).filter((file) => file.endsWith(format));
    const code = files.map((file) => readFileSync(join(folder, file), 'utf8')).join('');
    expect(code).toContain('"https://git.example/owner/name/blob/main/docs/errors.md"');
  }
  rmSync(folder, { recursive: true });
});
