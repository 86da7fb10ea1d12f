/**
 * Resolves at Ctrl-C or SIGTERM. Call it before any output says that the command runs. A second one
 * ends the process at once, as it would without us.
 */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}
