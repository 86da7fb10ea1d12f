import { readFileSync, statSync } from 'node:fs';
import { ConfigurationError } from '@paylink/core';
import { EmulatorError } from '../base/emulator-error.js';
import { takeLock } from './lock.js';
import { replaceFile } from './replace-file.js';

/** Keeps records of several kinds. `noStore` keeps nothing. */
export interface Store {
  /** Returns the records of earlier runs by id, in the order of their first writing. */
  read(kind: string): ReadonlyMap<string, unknown>;
  /** @throws EmulatorError `state_not_written`. The next change writes this one again. */
  put(kind: string, id: string, value: unknown): void;
  /** @throws EmulatorError `state_not_written` */
  remove(kind: string, id: string): void;
  /** Writes the changes of `work` together, so that a kill leaves all or none of them. */
  together(work: () => void): void;
  /** Writes the changes that failed before. @throws EmulatorError `state_not_written` */
  catchUp(): void;
  /** @throws EmulatorError `state_not_written` */
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

const FIRST_LINE = '{"paylink":"emulator state","version":2}';

/**
 * Opens an emulator's state file, which has a line of JSON per record. Each change replaces the
 * file before the change is answered, so a kill or a full disk loses nothing.
 *
 * @throws ConfigurationError if the file is not a state file, has a wrong record, cannot be
 *   written, or is in use by another emulator
 */
export function openStateFile(path: string): Store {
  const endLock = takeLock(path);
  /** The lines by kind and id. */
  const lines = new Map<string, string>();
  let isWritten = false;
  let isCollecting = false;
  let isClosed = false;

  function write(): void {
    if (isWritten || isCollecting || isClosed) return;
    try {
      replaceFile(path, [FIRST_LINE, ...lines.values(), ''].join('\n'));
      isWritten = true;
    } catch (error) {
      const message =
        `the state file cannot be written: ${(error as Error).message}. Free some space, then ` +
        'try again';
      throw new EmulatorError('state_not_written', message, { cause: error });
    }
  }

  function change(work: () => void): void {
    work();
    isWritten = false;
    write();
  }

  const earlier = new Map<string, Map<string, unknown>>();
  try {
    for (const [kind, id, value] of readRecords(path)) {
      lines.set(`${kind} ${id}`, JSON.stringify([kind, id, value]));
      earlier.set(kind, (earlier.get(kind) ?? new Map<string, unknown>()).set(id, value));
    }
    write();
  } catch (error) {
    endLock();
    if (error instanceof ConfigurationError) throw error;
    const { message } = ((error as Error).cause ?? error) as Error;
    throw new ConfigurationError('state', `cannot be written: ${message}`);
  }

  return {
    read: (kind) => earlier.get(kind) ?? new Map(),
    put: (kind, id, value) =>
      change(() => lines.set(`${kind} ${id}`, JSON.stringify([kind, id, value]))),
    remove: (kind, id) => change(() => lines.delete(`${kind} ${id}`)),
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
    clear: () => change(() => lines.clear()),
    close() {
      if (isClosed) return;
      isClosed = true;
      endLock();
    },
  };
}

type StateRecord = readonly [kind: string, id: string, value: unknown];

/** @throws ConfigurationError that names the wrong line */
function readRecords(path: string): StateRecord[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  // Opening a FIFO or a device could wait for ever.
  if (!stats.isFile()) throw new ConfigurationError('state', `names ${path}, which is not a file`);
  const [first = '', ...rest] = readFileSync(path, 'utf8').split('\n');
  if (first !== FIRST_LINE) {
    const problem = `names ${path}, which is no state file of this version of the emulator`;
    throw new ConfigurationError('state', problem);
  }
  if (rest.at(-1) === '') rest.pop();
  return rest.map((text, at) => {
    const record = parse(text);
    if (record !== undefined) return record;
    const problem = `has a wrong record in line ${at + 2} of ${path}`;
    throw new ConfigurationError('state', `${problem}. ${REMEDY}`);
  });
}

export const REMEDY = 'Restore the file from a copy, or delete it to start without payments';

function parse(text: string): StateRecord | undefined {
  try {
    const record = JSON.parse(text) as StateRecord;
    const isRecord = Array.isArray(record) && record.length === 3;
    return isRecord && record.slice(0, 2).every((part) => typeof part === 'string')
      ? record
      : undefined;
  } catch {
    return undefined;
  }
}
