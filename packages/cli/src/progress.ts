import type { Output } from './output.js';
import type { Printable } from './safe-text.js';

/** Milliseconds between two lines in a pipe. */
const SELDOM = 10_000;
/** On a terminal, sooner than one reads. */
const OFTEN = 100;

/** Shows how far long work is: on a terminal in place, in a pipe by a line now and then. */
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
