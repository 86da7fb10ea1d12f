import { basename } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Runs tests named like the mutated file first, because a mutant's run ends at the first failure.
 */
export class NearestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // Stryker's runner sets this before each run.
    const mutated = (this.ctx.config.related ?? []).map((path) => basename(path).split('.')[0]!);
    const lastTime = ({ project, moduleId }: TestSpecification): number =>
      this.ctx.cache.getFileTestResults(
        `${project.name}:${moduleId.slice(this.ctx.config.root.length + 1)}`,
      )?.duration ?? 0;
    const rank = (file: TestSpecification): number =>
      mutated.some((name) => basename(file.moduleId).startsWith(name)) ? -1 : lastTime(file);
    return [...files].sort((one, other) => rank(one) - rank(other));
  }
}
