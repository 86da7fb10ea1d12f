/** Writes the planned files: all of them or none, and never out of the folder. */
import { accessSync, constants, lstatSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { rmSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { randomUUID } from 'node:crypto';
import { cannotBeWritten, usageFailure } from '../terminal/failure.js';
import type { PlannedFile } from './plan.js';

/** @throws Failure for a file that cannot be written, and for a link to it; nothing is written */
export function refuseUnwritable(folder: string, files: readonly PlannedFile[]): void {
  for (const file of files) {
    refuseLinksOut(folder, file.path);
    const path = join(folder, file.path);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (file.isSecret === true && found?.isSymbolicLink() === true) {
      throw usageFailure(
        `nothing was written: ${file.path} is a symbolic link, perhaps to a file that git keeps`,
        'replace the link by a file, then run the command again',
      );
    }
    try {
      accessSync(found === undefined ? folderAbove(path) : path, constants.W_OK);
    } catch (error) {
      throw usageFailure(`nothing was written: ${cannotBeWritten(file.path, error)}`);
    }
  }
}

export function writeFiles(folder: string, files: readonly PlannedFile[]): void {
  refuseUnwritable(folder, files);
  for (const { path, after, isSecret } of files) {
    const file = realPathOf(join(folder, path));
    mkdirSync(dirname(file), { recursive: true });
    const known = statSync(file, { throwIfNoEntry: false });
    // The draft has its permissions from the start, so that nobody reads a secret in between.
    const mode = isSecret === true ? 0o600 : (known?.mode ?? 0o666);
    const draft = `${file}.${randomUUID()}`;
    try {
      writeFileSync(draft, after, { flag: 'wx', mode });
      renameSync(draft, file);
    } finally {
      rmSync(draft, { force: true });
    }
  }
}

function folderAbove(path: string): string {
  const above = dirname(path);
  return lstatSync(above, { throwIfNoEntry: false }) === undefined ? folderAbove(above) : above;
}

function realPathOf(path: string): string {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
    ? realpathSync(path)
    : path;
}

/** @throws Failure if a symbolic link on the path leads out of the folder, or nowhere */
function refuseLinksOut(folder: string, path: string): void {
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
