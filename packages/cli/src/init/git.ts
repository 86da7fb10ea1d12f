import { execFileSync } from 'node:child_process';

/** Returns true if git ignores the path in the folder, or undefined without git or a repository. */
export function isIgnoredByGit(folder: string, path: string): boolean | undefined {
  return ask(folder, ['check-ignore', '--quiet', '--no-index', path]);
}

export function isTrackedByGit(folder: string, path: string): boolean {
  return ask(folder, ['ls-files', '--error-unmatch', path]) === true;
}

function ask(folder: string, args: readonly string[]): boolean | undefined {
  try {
    // A folder from elsewhere can configure its own program here.
    const safe = ['-c', 'core.fsmonitor=false', ...args];
    execFileSync('git', safe, { cwd: folder, stdio: 'ignore' });
    return true;
  } catch (error) {
    return (error as { readonly status?: number | null }).status === 1 ? false : undefined;
  }
}
