/** The files of --state and --health. They stay whole through a crash. */
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeWhole } from '../settings/whole-file.js';
import { cannotBeWritten, usageFailure } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';

/** A file that keeps one JSON value, or nothing if the user named no file. */
export class JsonFile {
  readonly #path: string | undefined;
  readonly #option: string;
  readonly #output: Output;

  /** @throws Failure if the folder of the file does not exist */
  constructor(path: string | undefined, option: string, output: Output) {
    this.#path = path;
    this.#option = option;
    this.#output = output;
    if (path === undefined) return;
    const folder = statSync(dirname(path), { throwIfNoEntry: false });
    if (folder?.isDirectory() !== true)
      throw usageFailure(`${option}: no such folder: ${dirname(path)}`);
  }

  /** Returns an object, which is empty if the file is missing or unreadable. */
  read(): Readonly<Record<string, unknown>> {
    if (this.#path === undefined || !existsSync(this.#path)) return {};
    try {
      return Object(JSON.parse(readFileSync(this.#path, 'utf8'))) as Record<string, unknown>;
    } catch {
      // A lost cursor costs a few extra questions. A run that does not start could cost an order.
      this.#output.error(`${this.#option}: ${this.#path} cannot be read, so this run begins anew`);
      return {};
    }
  }

  /** Only warns on failure: a full disk must not keep orders from being credited. */
  write(value: unknown): void {
    const path = this.#path;
    if (path === undefined) return;
    try {
      // Replaces the target of a link and keeps the link, for example into a volume.
      writeWhole(existsSync(path) ? realpathSync(path) : path, `${JSON.stringify(value)}\n`);
    } catch (error) {
      this.#output.error(`${this.#option}: ${cannotBeWritten(path, error)}`);
    }
  }
}
