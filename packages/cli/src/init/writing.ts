/** Writes the planned files: all of them or none, and never outside the folder. */
import { accessSync, constants, lstatSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { cannotBeWritten, usageFailure } from '../terminal/failure.js';
import { writeWhole } from '../terminal/whole-file.js';
import type { PlannedFile } from './plan.js';

/** @throws Failure for a file that cannot be written, and for a link out of the folder */
export function refuseUnwritable(folder: string, files: readonly PlannedFile[]): void {
  for (const { path, isSecret } of files) {
    refuseLinks(realpathSync(folder), path, isSecret === true);
    try {
      accessSync(nearestExisting(join(folder, path)), constants.W_OK);
    } catch (error) {
      throw usageFailure(`nothing was written: ${cannotBeWritten(path, error)}`);
    }
  }
}

export function writeFiles(folder: string, files: readonly PlannedFile[]): void {
  for (const { path, after, isSecret } of files) {
    const isKnown = isThere(join(folder, path));
    const file = isKnown ? realpathSync(join(folder, path)) : join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    const mode = isSecret === true ? 0o600 : isKnown ? statSync(file).mode : 0o666;
    writeWhole(file, after, mode);
  }
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

function nearestExisting(path: string): string {
  return isThere(path) ? path : nearestExisting(dirname(path));
}

/** @throws Failure if a symbolic link on the path leads out of the folder, or nowhere */
function refuseLinks(root: string, path: string, isSecret: boolean): void {
  let at = root;
  for (const part of path.split('/')) {
    at = join(at, part);
    if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
    const way = relative(root, targetOf(at) ?? dirname(root));
    const why = way.startsWith('..')
      ? 'a symbolic link out of this folder'
      : isSecret
        ? 'a symbolic link, perhaps to a file that git keeps'
        : undefined;
    if (why !== undefined)
      throw usageFailure(
        `nothing was written: ${relative(root, at)} is ${why}`,
        'replace the link with a file or folder of the project, then run the command again',
      );
    at = join(root, way);
  }
}

function targetOf(link: string): string | undefined {
  try {
    return realpathSync(link);
  } catch {
    return undefined;
  }
}
