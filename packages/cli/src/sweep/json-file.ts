import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { cannotBeWritten, usageFailure } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import { writeWhole } from '../terminal/whole-file.js';

/** A file that keeps one JSON object through a crash, or nothing if the user named no file. */
export class JsonFile {
  /** @throws Failure if the folder of the file does not exist */
  constructor(
    readonly path: string | undefined,
    readonly option: string,
    readonly output: Output,
  ) {
    if (path !== undefined && !existsSync(dirname(path)))
      throw usageFailure(`${option}: no such folder: ${dirname(path)}`);
  }

  /** Returns an object, which is empty if the file is missing or unreadable. */
  read(): Readonly<Record<string, unknown>> {
    if (this.path === undefined || !existsSync(this.path)) return {};
    try {
      return Object(JSON.parse(readFileSync(this.path, 'utf8'))) as Record<string, unknown>;
    } catch {
      // A lost cursor costs a few extra questions. A run that does not start could cost an order.
      this.output.error(`${this.option}: ${this.path} cannot be read, so this run begins anew`);
      return {};
    }
  }

  /** Only warns on failure: a full disk must not keep orders from being credited. */
  write(value: object): void {
    const { path } = this;
    if (path === undefined) return;
    try {
      // Replaces the target of a link and keeps the link, for example into a volume.
      writeWhole(existsSync(path) ? realpathSync(path) : path, `${JSON.stringify(value)}\n`);
    } catch (error) {
      this.output.error(`${this.option}: ${cannotBeWritten(path, error)}`);
    }
  }
}
