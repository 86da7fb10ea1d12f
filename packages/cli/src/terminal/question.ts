import { createInterface } from 'node:readline/promises';
import { Failure, INTERRUPTED } from './failure.js';

/** Asks at the terminal. Returns true only for a yes. @throws Failure on Ctrl-C or Ctrl-D */
export async function agreesTo(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // A closed terminal never answers.
  const closed = new Promise<undefined>((resolve) =>
    terminal.once('close', () => resolve(undefined)),
  );
  const asked = terminal.question(`${question} [y/N] `).catch((error: unknown) => {
    if ((error as Error).name === 'AbortError') return undefined;
    throw error;
  });
  const answer = await Promise.race([asked, closed]);
  terminal.close();
  if (answer !== undefined) return /^y(es)?$/i.test(answer.trim());
  // Ends the question's line.
  process.stderr.write('\n');
  throw new Failure(INTERRUPTED, 'no answer, so nothing was done', []);
}
