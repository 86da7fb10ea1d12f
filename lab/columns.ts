/** Formats a table for the terminal, with columns of numbers aligned to the right. */
export function columns(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const lines = [head, ...rows].map((row) => row.map(String));
  const formats = head.map((_, column) => {
    const cells = lines.map((line) => line[column]!);
    const width = Math.max(...cells.map(({ length }) => length));
    const isNumeric = cells.slice(1).every((cell) => /^[\d.]*$/.test(cell));
    return (cell: string) => (isNumeric ? cell.padStart(width) : cell.padEnd(width));
  });
  return lines
    .map((line) =>
      line
        .map((cell, column) => formats[column]!(cell))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
