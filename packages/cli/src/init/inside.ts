import { lstatSync, realpathSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { usageFailure } from '../terminal/failure.js';

/** @throws Failure if a symbolic link on the path leads out of the folder, or nowhere */
export function refuseLinksOut(folder: string, path: string): void {
  const root = realpathSync(folder);
  let at = root;
  for (const part of path.split('/')) {
    at = join(at, part);
    const found = lstatSync(at, { throwIfNoEntry: false });
    if (found === undefined) return;
    if (!found.isSymbolicLink()) continue;
    const target = targetOf(at);
    const way = target === undefined ? '..' : relative(root, target);
    if (target === undefined || way.startsWith('..') || isAbsolute(way)) {
      throw usageFailure(
        `nothing was written: ${relative(root, at)} is a symbolic link out of this folder`,
        'replace the link by a file or folder of the project, then run the command again',
      );
    }
    at = target;
  }
}

function targetOf(link: string): string | undefined {
  try {
    return realpathSync(link);
  } catch {
    return undefined;
  }
}
