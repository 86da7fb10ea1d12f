import { spawnSync } from 'node:child_process';

/** Returns true if git tracks the path. False without git, and outside a repository. */
export function isTracked(path: string): boolean {
  return isListed(path, '--cached');
}

/** Returns true if git tracks the path, or `git add` would. */
export function isVisibleToGit(path: string): boolean {
  return isListed(path, '--cached', '--others', '--exclude-standard');
}

function isListed(path: string, ...options: readonly string[]): boolean {
  // A stranger's repository may name a program as its file system monitor.
  const args = ['-c', 'core.fsmonitor=false', 'ls-files', ...options, '--', path];
  return Boolean(spawnSync('git', args).stdout?.length);
}
