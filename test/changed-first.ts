import { basename, dirname, relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { changedFiles } from '../scripts/check.mjs';

/**
 * Runs the tests of your change first, so that you see a failure early: the files that failed last
 * time, changed tests, tests named after a changed file, and the changed packages. Then comes
 * Vitest's order: the longest first.
 */
export class ChangedFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const changed = changedFiles();
    const names = new Set(changed.map(nameOf));
    const folders = new Set(changed.map(folderOf));
    const distance = ({ project, moduleId }: TestSpecification): number => {
      const path = relative(this.ctx.config.root, moduleId);
      if (this.ctx.cache.getFileTestResults(`${project.name}:${path}`)?.failed === true) return 0;
      if (changed.includes(path)) return 1;
      if (folders.has(folderOf(path))) return names.has(nameOf(path)) ? 2 : 3;
      return 4;
    };
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => distance(one) - distance(other));
  }
}

const nameOf = (path: string): string => basename(path).split('.')[0]!;

/** `packages/core`, or the folder of a file outside of packages. */
const folderOf = (path: string): string =>
  /^(?:packages|examples)\/[^/]+/.exec(path)?.[0] ?? dirname(path);
