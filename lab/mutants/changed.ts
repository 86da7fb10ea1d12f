import { execFileSync, spawnSync } from 'node:child_process';

/** Returns the source lines that changed since a commit, in Stryker's form: `path:first-last`. */
export function changedLines(root: string, since: string): string[] {
  const diff = execFileSync(
    'git',
    ['diff', '--unified=0', '--no-renames', '--diff-filter=d', since, '--', 'packages/*/src/*.ts'],
    {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
    },
  );
  return rangesOf(diff);
}

/** Parses a diff without context. Ignores pure deletions, which leave nothing to mutate. */
export function rangesOf(diff: string): string[] {
  const ranges: string[] = [];
  let file = '';
  for (const line of diff.split('\n')) {
    const header = /^\+\+\+ b\/(.*)$/.exec(line);
    if (header !== null) file = header[1]!;
    const hunk = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk === null) continue;
    const [first, count] = [Number(hunk[1]), Number(hunk[2] ?? '1')];
    if (count > 0) ranges.push(`${file}:${first}-${first + count - 1}`);
  }
  return ranges;
}

/** Returns the commit at which this branch left main, or on main the previous commit. */
export function mergeBase(root: string): string {
  const git = (...args: string[]): string | undefined => {
    const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
    return status === 0 ? stdout.trim() : undefined;
  };
  const head = git('rev-parse', 'HEAD');
  const base = git('merge-base', 'origin/main', 'HEAD') ?? git('merge-base', 'main', 'HEAD');
  if (base !== undefined && base !== head) return base;
  return git('rev-parse', '--verify', 'HEAD~1') ?? 'HEAD';
}
