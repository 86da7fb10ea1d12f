import {
  linkSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { ConfigurationError } from '@paylink/core';

/**
 * Takes the lock of a file, because two emulators would overwrite each other's changes. A dead
 * process's lock does not count. The lock appears with its content. A dead lock is moved away and
 * checked again, because another emulator may start at the same time.
 */
export function takeLock(lock: string): void {
  const own = `${lock}.${process.pid}`;
  try {
    // Left by a killed process that had the same id here.
    rmSync(own, { force: true });
    refuseIfHeld(lock);
    if (statsOf(lock) !== undefined) moveAway(lock, own);
    rmSync(own, { force: true });
    writeFileSync(own, String(process.pid), { flag: 'wx', mode: 0o600 });
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

/** Links the file to its final name unless the name is taken. */
function place(own: string, lock: string): void {
  try {
    linkSync(own, lock);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw justTaken();
    // A file system without hard links. An empty lock there counts as the lock of a dead process.
    writeFileSync(lock, readFileSync(own), { flag: 'wx', mode: 0o600 });
  }
}

function justTaken(): ConfigurationError {
  return new ConfigurationError('state', 'was just taken by another emulator');
}

/** @throws ConfigurationError if the file is the lock of a running process, or no plain file */
function refuseIfHeld(file: string, lock = file): void {
  const stats = statsOf(file);
  if (stats === undefined) return;
  // Reading a FIFO would wait for ever, and a link may lead to a file of somebody else.
  if (!stats.isFile())
    throw new ConfigurationError('state', `needs the name ${lock} for its lock: it is not a file`);
  const owner = Number(readFileSync(file, 'utf8'));
  if (owner === process.pid ? isOfThisProcess(stats.mtimeMs) : isAlive(owner)) {
    throw new ConfigurationError(
      'state',
      `is in use by another emulator, process ${owner}. If that process has ended, delete ${lock}`,
    );
  }
}

function statsOf(file: string): Stats | undefined {
  return lstatSync(file, { throwIfNoEntry: false });
}

/**
 * Recognises a killed predecessor in a container, which often had the same pid: its lock is older
 * than this process.
 */
function isOfThisProcess(lockedAt: number): boolean {
  return lockedAt >= Date.now() - process.uptime() * 1_000;
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
