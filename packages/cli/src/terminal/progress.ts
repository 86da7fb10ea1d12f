import type { Output } from './output.js';
import type { Printable } from './safe-text.js';

/** Milliseconds between two lines in a pipe. */
const SELDOM = 10_000;
/** Milliseconds between two updates on a terminal. */
const OFTEN = 100;

/** Shows the progress of long work: in place on a terminal, and as an occasional line in a pipe. */
export function showProgress(
  output: Output,
): (inTerminal: () => Printable, inPipe: () => Printable) => void {
  const { isTTY } = process.stderr;
  let last = isTTY ? -Infinity : performance.now();
  return (inTerminal, inPipe) => {
    if (performance.now() - last < (isTTY ? OFTEN : SELDOM)) return;
    last = performance.now();
    if (isTTY) output.progress(inTerminal());
    else output.note(inPipe());
  };
}
