import { lstatSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ConfigurationError } from '@paylink/core';

/**
 * Takes the lock of a file, because two emulators would overwrite each other's changes. Each
 * emulator puts an empty file with its process id in the name beside the locked file, and then
 * looks for others. So of two that start at once, each sees the other one, and at most one stays.
 *
 * @returns a function that ends the lock
 * @throws ConfigurationError if another emulator has the lock
 */
export function takeLock(path: string): () => void {
  const own = `${path}.lock.${process.pid}`;
  const end = (): void => rmSync(own, { force: true });
  try {
    // A killed predecessor in a container often had the same process id.
    const lockedAt = lstatSync(own, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (lockedAt < Date.now() - process.uptime() * 1_000) end();
    writeFileSync(own, '', { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw inUse(process.pid, own);
    throw new ConfigurationError('state', `cannot be locked: ${message}`);
  }
  for (const name of readdirSync(dirname(path))) {
    const [, pid = ''] = name.split(`${basename(path)}.lock.`);
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    const other = join(dirname(path), name);
    if (isAlive(Number(pid))) {
      end();
      throw inUse(Number(pid), other);
    }
    rmSync(other, { force: true });
  }
  return end;
}

function inUse(pid: number, lock: string): ConfigurationError {
  return new ConfigurationError(
    'state',
    `is in use by another emulator, process ${pid}. If that process has ended, delete ${lock}`,
  );
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
