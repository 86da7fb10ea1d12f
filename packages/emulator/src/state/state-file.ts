import { existsSync, readFileSync, rmSync } from 'node:fs';
import { ConfigurationError } from '@paylink/core';
import { EmulatorError } from '../emulator-error.js';
import { warn } from '../report.js';
import { takeLock } from './lock.js';
import { appendAll, close, replaceFile, type OpenFile } from './safe-writing.js';

/** The kept records of a kind, by id. */
export type Kept = ReadonlyMap<string, unknown>;

/** Writes changes. `noStore` writes nothing. */
export interface Store {
  /** Returns the records of earlier runs, in the order of their first writing. */
  read(kind: string): Kept;
  /** @throws EmulatorError `state_not_written`. The next change writes this one again. */
  put(kind: string, id: string, value: unknown): void;
  /** @throws EmulatorError `state_not_written` */
  remove(kind: string, id: string): void;
  /** Writes the changes of `work` together, so that a kill leaves all or none of them. */
  together(work: () => void): void;
  /** Writes the changes that failed before. @throws EmulatorError `state_not_written` */
  catchUp(): void;
  clear(): void;
  close(): void;
}

export const noStore: Store = {
  read: () => new Map(),
  put: () => undefined,
  remove: () => undefined,
  together: (work) => work(),
  catchUp: () => undefined,
  clear: () => undefined,
  close: () => undefined,
};

const FIRST_LINE = '{"paylink":"emulator state","version":1}';
// A rewrite follows this many appended bytes, or four times the file's size if that is more.
const BYTES_BEFORE_REWRITE = 1_000_000;

type Line = readonly [kind: string, id: string, value?: unknown];

/**
 * Opens an emulator's state file. Each change is one appended line, written before the change is
 * answered, so it survives a kill. A cut-off line is dropped with a warning. The file is rewritten
 * atomically at startup and from time to time.
 *
 * @throws ConfigurationError if the file is not a state file, cannot be written, or is in use by
 *   another emulator
 */
export function openStateFile(path: string): Store {
  const lock = `${path}.lock`;
  takeLock(lock);
  const state = new Map<string, Map<string, unknown>>();
  /**
   * Lines that are not in the file yet: inside `together`, or after a failed write. Keyed by kind
   * and id, so that they stay few.
   */
  const unwritten = new Map<string, Line>();
  let file: OpenFile | undefined;
  let rewriteAt = 0;
  let isCollecting = false;

  const kindOf = (kind: string): Map<string, unknown> => {
    const kept = state.get(kind) ?? new Map<string, unknown>();
    state.set(kind, kept);
    return kept;
  };

  const postponeRewrite = (size: number): void => {
    rewriteAt = size + Math.max(BYTES_BEFORE_REWRITE, 4 * size);
  };

  function rewrite(): void {
    const all = [...state].flatMap(([kind, kept]) =>
      [...kept].map(([id, value]): Line => [kind, id, value]),
    );
    const fresh = replaceFile(
      path,
      toText([FIRST_LINE, ...all.map((line) => JSON.stringify(line))]),
    );
    if (file !== undefined) close(file);
    file = fresh;
    unwritten.clear();
    postponeRewrite(fresh.size);
  }

  function write(): void {
    if (file === undefined || isCollecting || unwritten.size === 0) return;
    try {
      if (file.size > rewriteAt) return rewrite();
    } catch {
      // A rewrite needs room for a second file. Appending may still work.
      postponeRewrite(file.size);
    }
    try {
      appendAll(file, toText(Array.from(unwritten.values(), (line) => JSON.stringify(line))));
      unwritten.clear();
    } catch (error) {
      throw notWritten(error);
    }
  }

  function change(line: Line): void {
    unwritten.set(JSON.stringify(line.slice(0, 2)), line);
    write();
  }

  try {
    for (const [kind, id, value] of readLines(path)) {
      if (value === undefined) kindOf(kind).delete(id);
      else kindOf(kind).set(id, value);
    }
    rewrite();
  } catch (error) {
    rmSync(lock, { force: true });
    if (error instanceof ConfigurationError) throw error;
    throw new ConfigurationError('state', `cannot be written: ${(error as Error).message}`);
  }

  return {
    read: (kind) => new Map(state.get(kind)),
    put(kind, id, value) {
      kindOf(kind).set(id, value);
      change([kind, id, value]);
    },
    remove(kind, id) {
      if (kindOf(kind).delete(id)) change([kind, id]);
    },
    together(work) {
      isCollecting = true;
      try {
        work();
      } finally {
        isCollecting = false;
        write();
      }
    },
    catchUp: write,
    clear() {
      state.clear();
      if (file === undefined) return;
      try {
        rewrite();
      } catch (error) {
        throw notWritten(error);
      }
    },
    close() {
      if (file === undefined) return;
      close(file);
      file = undefined;
      rmSync(lock, { force: true });
    },
  };
}

function toText(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}

function notWritten(error: unknown): EmulatorError {
  const { message } = error as Error;
  return new EmulatorError(
    'state_not_written',
    `the state file cannot be written: ${message}. Free some space, then try again`,
    {
      cause: error,
    },
  );
}

function readLines(path: string): Line[] {
  if (!existsSync(path)) return [];
  const [first, ...rest] = readFileSync(path, 'utf8').split('\n');
  if (first !== FIRST_LINE)
    throw new ConfigurationError(
      'state',
      `names ${path}, which is not a state file of the emulator`,
    );
  // Whole lines end with a line break, so the last element is an unfinished line.
  const cut = rest.pop();
  const lines = rest.map(parseLine);
  const dropped = lines.flatMap((line, at) => (line === undefined ? [at + 2] : []));
  if (cut !== '') dropped.push(rest.length + 2);
  if (dropped.length > 0)
    warn(
      `dropped from the state file ${path}, because a kill or a full disk cut it off: line ` +
        dropped.join(', '),
    );
  return lines.filter((line) => line !== undefined);
}

function parseLine(text: string): Line | undefined {
  try {
    const line = JSON.parse(text) as unknown;
    const isLine =
      Array.isArray(line) && typeof line[0] === 'string' && typeof line[1] === 'string';
    return isLine ? (line as unknown as Line) : undefined;
  } catch {
    return undefined;
  }
}
