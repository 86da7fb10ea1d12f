/**
 * Resolves on Ctrl-C or SIGTERM. Call it before printing that the command runs. The same signal
 * again ends the process at once.
 */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}
