import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { ConfigurationError } from '@paylink/core';

/** What the file keeps of a kind, by id. */
export type Kept = ReadonlyMap<string, unknown>;

/** Writes what changes. Without a file, `noStore` writes nothing. */
export interface Store {
  /** What was kept before, in the order of its first writing. */
  read(kind: string): Kept;
  put(kind: string, id: string, value: unknown): void;
  remove(kind: string, id: string): void;
  /** Writes the changes of `work` in one piece, so that a kill leaves all of them or none. */
  together(work: () => void): void;
  clear(): void;
  close(): void;
}

export const noStore: Store = {
  read: () => new Map(),
  put: () => undefined,
  remove: () => undefined,
  together: (work) => work(),
  clear: () => undefined,
  close: () => undefined,
};

const FIRST_LINE = '{"paylink":"emulator state","version":1}';
// Bytes that are appended before the file is rewritten, or four times what the rewritten file holds.
const BYTES_BEFORE_REWRITE = 1_000_000;

type Line = readonly [kind: string, id: string, value?: unknown];

/**
 * Opens the file of an emulator's state. Each change is one appended line, written before the change is answered, so it survives
 * a kill; a line that a kill cut off is ignored. The file is rewritten as a whole, atomically, at the start and now and then.
 *
 * @throws ConfigurationError where the file is not such a file, cannot be written, or another emulator uses it
 */
export function openStateFile(path: string): Store {
  const lock = `${path}.lock`;
  takeLock(lock);
  const state = new Map<string, Map<string, unknown>>();
  let file: number | undefined;
  let appended = 0;
  let written = 0;
  /** Lines that wait for the end of `together`. */
  let waiting: string[] | undefined;

  const kindOf = (kind: string): Map<string, unknown> => {
    const kept = state.get(kind) ?? new Map<string, unknown>();
    state.set(kind, kept);
    return kept;
  };

  function rewrite(): void {
    const all = [...state].flatMap(([kind, kept]) => [...kept].map(([id, value]): Line => [kind, id, value]));
    const temporary = `${path}.tmp`;
    const fresh = openSync(temporary, 'w', 0o600);
    written = writeSync(fresh, [FIRST_LINE, ...all.map((line) => JSON.stringify(line)), ''].join('\n'));
    fsyncSync(fresh);
    closeSync(fresh);
    renameSync(temporary, path);
    if (file !== undefined) closeSync(file);
    file = openSync(path, 'a', 0o600);
    appended = 0;
  }

  function append(line: Line): void {
    const text = `${JSON.stringify(line)}\n`;
    if (waiting !== undefined) waiting.push(text);
    else write([text]);
  }

  function write(texts: readonly string[]): void {
    if (file === undefined || texts.length === 0) return;
    if (appended > Math.max(BYTES_BEFORE_REWRITE, 4 * written)) rewrite();
    else appended += writeSync(file, texts.join(''));
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
      append([kind, id, value]);
    },
    remove(kind, id) {
      if (kindOf(kind).delete(id)) append([kind, id]);
    },
    together(work) {
      waiting = [];
      try {
        work();
      } finally {
        const texts = waiting;
        waiting = undefined;
        write(texts);
      }
    },
    clear() {
      state.clear();
      if (file !== undefined) rewrite();
    },
    close() {
      if (file === undefined) return;
      closeSync(file);
      file = undefined;
      rmSync(lock, { force: true });
    },
  };
}

function readLines(path: string): Line[] {
  if (!existsSync(path)) return [];
  const [first, ...rest] = readFileSync(path, 'utf8').split('\n');
  if (first !== FIRST_LINE) throw new ConfigurationError('state', `names ${path}, which is no state file of the emulator`);
  // A kill can cut off the last line; its change was not answered.
  rest.pop();
  return rest.map((line) => JSON.parse(line) as Line);
}

/**
 * Two emulators that write one file would each lose what the other writes. The lock of a dead process counts for nothing. It appears with
 * its content, and a dead one is moved away before it is looked at again, since another emulator may be starting at the same time.
 */
function takeLock(lock: string): void {
  const own = `${lock}.${process.pid}`;
  try {
    // Of a process that was killed here and had the same id.
    rmSync(own, { force: true });
    refuseIfHeld(lock);
    if (existsSync(lock)) moveAway(lock, own);
    writeFileSync(own, String(process.pid), { mode: 0o600 });
    place(own, lock);
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    throw new ConfigurationError('state', `cannot be locked: ${(error as Error).message}`);
  } finally {
    rmSync(own, { force: true });
  }
}

function moveAway(lock: string, own: string): void {
  try {
    renameSync(lock, own);
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? justTaken() : error;
  }
  try {
    refuseIfHeld(own, lock);
  } catch (error) {
    place(own, lock);
    throw error;
  }
}

/** Gives the file its other name, unless there is one of that name. */
function place(own: string, lock: string): void {
  try {
    linkSync(own, lock);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw justTaken();
    // A file system without hard links. A lock that is still empty counts as that of a dead process there.
    writeFileSync(lock, readFileSync(own), { flag: 'wx', mode: 0o600 });
  }
}

function justTaken(): ConfigurationError {
  return new ConfigurationError('state', 'was just taken by another emulator');
}

/** @throws ConfigurationError where the file is the lock of a process that runs */
function refuseIfHeld(file: string, lock = file): void {
  if (!existsSync(file)) return;
  const owner = Number(readFileSync(file, 'utf8'));
  if (owner === process.pid ? isOfThisProcess(file) : isAlive(owner)) {
    throw new ConfigurationError('state', `is in use by another emulator, process ${owner}; if that is wrong, delete ${lock}`);
  }
}

/** In a container the pid is often that of the process that was killed before, whose lock is older than this process. */
function isOfThisProcess(lock: string): boolean {
  return statSync(lock).mtimeMs >= Date.now() - process.uptime() * 1_000;
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
