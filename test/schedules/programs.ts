/** Runs `paylink torture` on a whole program. */
import { fileURLToPath } from 'node:url';
import { paylinkProcess, type Result } from '../../packages/cli/test/paylink.js';
import { freePort } from '../servers/starting.js';

export const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** @param start starts the program, which reads the variables CREDIT and PORT */
export async function tortureProgram(
  start: string,
  database: string,
  credit: 'right' | 'broken',
): Promise<Result> {
  const port = await freePort();
  const books = `${process.execPath} ${at('programs/books.mjs')}`;
  return paylinkProcess(
    [
      ...['torture', '--start', start, '--to', `http://127.0.0.1:${port}/webhook`],
      ...['--database', database, '--order', `${books} order`, '--books', `${books} books`],
      ...['--time-limit', '3m'],
    ],
    { env: { CREDIT: credit, PORT: String(port) }, cwd: at('../..') },
  );
}
