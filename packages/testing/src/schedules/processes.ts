/** The processes that an attempt starts. They end with this process. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

const running = new Set<ChildProcess>();

function killAll(): void {
  for (const child of running) killGroup(child);
}

/** Sends SIGKILL to the process and its children: a shell starts the program. */
function killGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, 'SIGKILL');
  } catch {
    // The group has ended.
  }
}

/** @param child is spawned with `detached`, which gives it a group of its own */
export function endWithThisProcess(child: ChildProcess): void {
  // One listener for all, because Node warns of a leak at more than ten.
  if (running.size === 0) process.on('exit', killAll);
  running.add(child);
  child.on('error', () => undefined);
  child.once('exit', () => {
    running.delete(child);
    if (running.size === 0) process.off('exit', killAll);
  });
}

/** True also for a process that could not start. */
export function hasEnded({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null;
}

/** Resolves when the process has ended. */
export async function kill(child: ChildProcess): Promise<void> {
  const ended = hasEnded(child) ? undefined : once(child, 'exit');
  killGroup(child);
  await ended;
}
