import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { cannotBeRead, cannotBeWritten, usageFailure } from '../terminal/failure.js';
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
    } catch (error) {
      // A lost cursor costs a few extra questions. A run that does not start could cost an order.
      this.output.error(cannotBeRead(this.option, this.path, error));
      return {};
    }
  }

  /** Only warns on failure: a full disk must not keep orders from being credited. */
  write(value: object): void {
    if (this.path === undefined) return;
    try {
      // Replaces the target of a link and keeps the link, for example into a volume.
      const target = existsSync(this.path) ? realpathSync(this.path) : this.path;
      writeWhole(target, `${JSON.stringify(value)}\n`);
    } catch (error) {
      this.output.error(`${this.option}: ${cannotBeWritten(this.path, error)}`);
    }
  }
}
