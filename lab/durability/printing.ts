/** Formats a table for the terminal, with numbers aligned to the right. */
export function columns(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const lines = [head, ...rows].map((row) => row.map(String));
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
        )
        .join('  '),
    )
    .join('\n');
}

const EVERY_MS = 5_000;

/**
 * Returns a function to call after each step. It prints the progress and the remaining time every
 * five seconds.
 */
export function progress(what: string, total: number): (done: number) => void {
  const started = performance.now();
  let printed = started;
  return (done) => {
    const now = performance.now();
    if (now - printed < EVERY_MS && done !== total) return;
    printed = now;
    const left = ((now - started) / done) * (total - done);
    console.error(
      `${what}: ${done} of ${total}, ${(done / ((now - started) / 1_000)).toFixed(1)} a ` +
        `second, ${(left / 1_000).toFixed(0)} s left`,
    );
  };
}
