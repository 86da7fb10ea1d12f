/**
 * A file that keeps two runs from asking the service the same questions. Money does not depend on
 * this lock: overlapping runs still credit each order once.
 */
import { createHash, randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { utimesSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { cannotBeWritten, usageFailure } from '../terminal/failure.js';

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
  const content = `${process.pid} ${randomUUID()}\n`;
  if (!take(path, content)) return undefined;
  const beat = setInterval(() => touch(path), BEAT).unref();
  try {
    return await work();
  } finally {
    clearInterval(beat);
    if (contentOf(path) === content) rmSync(path, { force: true });
  }
}

function take(path: string, content: string): boolean {
  const draft = `${path}.${randomUUID()}`;
  try {
    writeFileSync(draft, content, { flag: 'wx', mode: 0o600 });
    removeDead(path, `${draft}.dead`);
    // Creates the lock as a whole, so that nobody reads half of it.
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw usageFailure(
      `the lock ${cannotBeWritten(path, error)}`,
      'set TMPDIR to a folder that this user may write, or pass --no-lock',
    );
  } finally {
    rmSync(draft, { force: true });
  }
}

function removeDead(path: string, aside: string): void {
  const seen = contentOf(path);
  if (seen === undefined || isAlive(path, seen)) return;
  try {
    renameSync(path, aside);
    // Another process took the dead lock over in between, so this one is alive.
    if (contentOf(aside) !== seen) linkSync(aside, path);
  } catch {
    // Another process removes it too.
  } finally {
    rmSync(aside, { force: true });
  }
}

function isAlive(path: string, content: string): boolean {
  const pid = Number.parseInt(content, 10);
  const beat = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  // A container gives each of its processes the same few numbers.
  if (pid === process.pid || Date.now() - beat > DEAD_AFTER) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function touch(path: string): void {
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    // A lock that somebody removed costs at most a few questions.
  }
}
