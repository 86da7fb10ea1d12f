/**
 * A file that keeps two runs from asking the service the same questions. Money does not depend on
 * this lock: overlapping runs still credit each order once.
 */
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { cannotBeWritten, usageFailure, type Failure } from '../terminal/failure.js';

/** The holder touches its lock this often, in milliseconds. */
const BEAT = 10_000;
/** A lock without a beat for this long counts as left by a dead process, in milliseconds. */
const DEAD_AFTER = 60_000;

/** Returns the path of the lock of a module: one per user, command and file. */
export function lockPathOf(command: string, module: string): string {
  const { uid, username } = userInfo();
  const hash = createHash('sha256').update(resolve(module)).digest('hex').slice(0, 16);
  return join(tmpdir(), `paylink-${uid < 0 ? username : uid}-${command}-${hash}.lock`);
}

/**
 * Runs `work` under the lock. Returns undefined if another process holds the lock.
 *
 * @throws Failure if the lock cannot be written, before `work` begins
 */
export async function runAlone<T>(path: string, work: () => Promise<T>): Promise<T | undefined> {
  if (!take(path) && (isAlive(path) || !takeOver(path))) return undefined;
  const touch = (): void => utimesSync(path, new Date(), new Date());
  const beat = setInterval(() => ignoringErrors(touch), BEAT).unref();
  try {
    return await work();
  } finally {
    clearInterval(beat);
    ignoringErrors(() => rmSync(path));
  }
}

function take(path: string): boolean {
  try {
    writeFileSync(path, `${process.pid}\n`, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw unusable(path, error);
  }
}

function unusable(path: string, error: unknown): Failure {
  return usageFailure(
    `the lock ${cannotBeWritten(path, error)}`,
    'set TMPDIR to a folder that this user may write, or pass --no-lock',
  );
}

/** Two processes that take over at once may both run, which costs a few questions. */
function takeOver(path: string): boolean {
  try {
    rmSync(path, { force: true });
  } catch (error) {
    throw unusable(path, error);
  }
  return take(path);
}

function isAlive(path: string): boolean {
  const beat = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (Date.now() - beat > DEAD_AFTER) return false;
  try {
    const pid = Number.parseInt(readFileSync(path, 'utf8'), 10);
    // A container gives each of its processes the same few numbers.
    return pid !== process.pid && process.kill(pid, 0);
  } catch (error) {
    // ESRCH: no such process. Without a number, the lock is being written.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

function ignoringErrors(work: () => void): void {
  try {
    work();
  } catch {
    // A lock that somebody removed costs at most a few questions.
  }
}
