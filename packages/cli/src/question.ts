import { createInterface } from 'node:readline/promises';
import { Failure, INTERRUPTED } from './failure.js';

/**
 * Asks at the terminal, and takes only a yes for one. @throws Failure at Ctrl-C or Ctrl-D in place
 * of an answer.
 */
export async function agreesTo(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // A terminal that is closed gives no answer, and the question would wait for ever.
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
  // The question's line has no end yet.
  process.stderr.write('\n');
  throw new Failure(INTERRUPTED, 'no answer, so nothing was done', []);
}
