/** Compiles better-sqlite3 once: its install script does not run in this repository. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

export function buildBetterSqlite3(): void {
  const folder = dirname(require.resolve('better-sqlite3/package.json'));
  if (existsSync(join(folder, 'build', 'Release', 'better_sqlite3.node'))) return;
  const headers = dirname(dirname(process.execPath));
  execFileSync('npx', ['--yes', 'node-gyp@11', 'rebuild', '--release', `--nodedir=${headers}`], {
    cwd: folder,
    // The compiler takes a minute to make SQLite fast, and a second to make it.
    env: { ...process.env, CFLAGS: '-O0', CXXFLAGS: '-O0' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
