/**
 * Keeps the state of a run in files, so that memory does not grow with the books and a stopped run
 * continues. The folder is the user's, or a temporary folder that the run deletes. The user's
 * folder can hold other files, so each name begins with `.paylink-prove-`:
 *
 * - `books.json`: the time at which the books were read, and the settled orders. Written last, at
 *   once.
 * - `questions.jsonl`: the books of each order that the service is asked about.
 * - `settled.jsonl`: the findings of the books alone.
 * - `answers.jsonl`: the findings of the service's answers, with checkpoints between them.
 */
import { createHash } from 'node:crypto';
import { createWriteStream, type WriteStream } from 'node:fs';
import {
  link,
  mkdir,
  mkdtemp,
  open,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { usageFailure } from '../failure.js';
import type { Books } from './books.js';
import type { Finding } from './finding.js';
import type { Answer, Verdict } from './judge.js';
import { linesOf } from './lines.js';

export type Counts = Partial<Record<Verdict, number>>;

/** The result of reading the books, before the service is asked. */
export interface BooksRead {
  /** The identity of the command line: another command line is another run. */
  readonly run: string;
  /** ISO 8601, UTC. */
  readonly readAt: string;
  readonly rows: {
    readonly orders: number;
    readonly credits: number;
    readonly marks: number | null;
  };
  readonly orders: number;
  readonly questions: number;
  readonly counts: Counts;
  readonly findings: Readonly<Record<string, number>>;
}

/** The end of the known answers. */
export interface Checkpoint {
  /** The start of the next question. */
  readonly end: number;
  readonly asked: number;
  /** Payments that the service returned. */
  readonly read: number;
  readonly counts: Counts;
}

/** A line of the answers: a finding, or a possible finding that the end of the run decides. */
export type AnswerLine =
  | { readonly finding: Finding }
  | {
      readonly unsure: 'lost' | 'no payment';
      readonly books: Books;
      readonly answer: Answer;
      readonly at: number;
    }
  | { readonly checkpoint: Checkpoint };

const START: Checkpoint = { end: 0, asked: 0, read: 0, counts: {} };

export class StateFolder {
  readonly #isKept: boolean;
  #lock: string | undefined;

  private constructor(
    readonly path: string,
    isKept: boolean,
  ) {
    this.#isKept = isKept;
  }

  /** @throws Failure if another run uses the folder */
  static async open(path: string | undefined): Promise<StateFolder> {
    if (path === undefined)
      return new StateFolder(await mkdtemp(join(tmpdir(), 'paylink-prove-')), false);
    try {
      await mkdir(path, { recursive: true, mode: 0o700 });
      const state = new StateFolder(path, true);
      await state.#takeLock();
      return state;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw typeof code === 'string'
        ? usageFailure(`--state: ${path} cannot be used (${code})`)
        : error;
    }
  }

  /**
   * Takes the lock. The lock appears with its content. A dead lock is moved away and checked again,
   * because another run may start at the same time.
   */
  async #takeLock(): Promise<void> {
    const path = this.#at('lock');
    const own = this.#at(`lock.${process.pid}`);
    const held = (holder: string): Error =>
      usageFailure(
        `--state: another run (${holder}) is at work in ${this.path}`,
        `if that run has ended, remove ${path}`,
      );
    try {
      // Left by a killed run that had the same process id here.
      await rm(own, { force: true });
      const holder = await holderOf(path);
      if (holder !== undefined) {
        if (isAtWork(holder)) throw held(`process ${holder}`);
        await rename(path, own);
        const moved = await holderOf(own);
        if (moved !== undefined && isAtWork(moved)) {
          await place(own, path);
          throw held(`process ${moved}`);
        }
      }
      await writeFile(own, `${process.pid}\n`, { mode: 0o600 });
      await place(own, path);
      this.#lock = path;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw code === 'EEXIST' || code === 'ENOENT' ? held('it has just begun') : error;
    } finally {
      await rm(own, { force: true });
    }
  }

  /**
   * Returns the books of the last run if it stopped later. @throws Failure if that run had another
   * command line
   */
  async booksRead(run: string): Promise<BooksRead | undefined> {
    const text = await readFile(this.#at('books.json'), 'utf8').catch(() => undefined);
    if (text === undefined) return undefined;
    const books = JSON.parse(text) as BooksRead;
    if (books.run === run) return books;
    throw usageFailure(
      `--state: ${this.path} belongs to a stopped run with other inputs`,
      'give the same command line to continue that run, or name another folder',
    );
  }

  async finishBooks(books: BooksRead): Promise<void> {
    await writeFile(this.#at('books.draft'), JSON.stringify(books), { mode: 0o600, flush: true });
    await rename(this.#at('books.draft'), this.#at('books.json'));
  }

  questions(): LineWriter {
    return new LineWriter(this.#at('questions.jsonl'), 'w');
  }

  settled(): LineWriter {
    return new LineWriter(this.#at('settled.jsonl'), 'w');
  }

  /** Drops answers of a run that was killed while it cleared its folder. */
  async begin(): Promise<Checkpoint> {
    await rm(this.#at('answers.jsonl'), { force: true });
    return START;
  }

  /** Returns the last checkpoint. Cuts later answers off, because their orders are asked again. */
  async resume(): Promise<Checkpoint> {
    const path = this.#at('answers.jsonl');
    let last = START;
    let end = 0;
    if ((await sizeOf(path)) > 0) {
      for await (const line of linesOf(path)) {
        if (!line.text.startsWith('{"checkpoint"')) continue;
        last = (JSON.parse(line.text) as { checkpoint: Checkpoint }).checkpoint;
        end = line.end;
      }
      await truncate(path, end);
    }
    return last;
  }

  answers(): LineWriter {
    return new LineWriter(this.#at('answers.jsonl'), 'a');
  }

  async *readQuestions(
    from: number,
  ): AsyncGenerator<{ readonly books: Books; readonly end: number }, void, undefined> {
    if ((await sizeOf(this.#at('questions.jsonl'))) <= from) return;
    for await (const { text, end } of linesOf(this.#at('questions.jsonl'), from))
      yield { books: JSON.parse(text) as Books, end };
  }

  async *readSettled(): AsyncGenerator<Finding, void, undefined> {
    if ((await sizeOf(this.#at('settled.jsonl'))) === 0) return;
    for await (const { text } of linesOf(this.#at('settled.jsonl')))
      yield JSON.parse(text) as Finding;
  }

  async *readAnswers(): AsyncGenerator<AnswerLine, void, undefined> {
    if ((await sizeOf(this.#at('answers.jsonl'))) === 0) return;
    for await (const { text } of linesOf(this.#at('answers.jsonl')))
      yield JSON.parse(text) as AnswerLine;
  }

  /** Opens the file of the final findings, in the order of the report. */
  final(): LineWriter {
    return new LineWriter(this.#at('final.jsonl'), 'w');
  }

  async *readFinal(): AsyncGenerator<Finding, void, undefined> {
    if ((await sizeOf(this.#at('final.jsonl'))) === 0) return;
    for await (const { text } of linesOf(this.#at('final.jsonl')))
      yield JSON.parse(text) as Finding;
  }

  /** @param goesOn true if a later run continues this one */
  async close(goesOn: boolean): Promise<void> {
    if (!this.#isKept) return rm(this.path, { recursive: true, force: true });
    if (!goesOn) {
      for (const name of ['books.json', 'questions.jsonl', 'settled.jsonl', 'answers.jsonl']) {
        await rm(this.#at(name), { force: true });
      }
    }
    await rm(this.#at('final.jsonl'), { force: true });
    if (this.#lock !== undefined) await rm(this.#lock, { force: true });
  }

  #at(name: string): string {
    return join(this.path, `.paylink-prove-${name}`);
  }
}

/** Writes JSON lines in the order of the calls. */
export class LineWriter {
  readonly #stream: WriteStream;
  #failed: Error | undefined;
  readonly #path: string;

  constructor(path: string, flags: 'w' | 'a') {
    this.#path = path;
    this.#stream = createWriteStream(path, { flags, mode: 0o600, highWaterMark: 1 << 18 });
    this.#stream.on('error', (error) => (this.#failed = error));
  }

  async write(line: unknown): Promise<void> {
    if (this.#failed !== undefined) throw this.#failed;
    if (!this.#stream.write(`${JSON.stringify(line)}\n`)) await once(this.#stream, 'drain');
  }

  async close(): Promise<void> {
    if (this.#failed !== undefined) throw this.#failed;
    this.#stream.end();
    await once(this.#stream, 'close');
    const file = await open(this.#path, 'r+');
    await file.sync();
    await file.close();
  }
}

/**
 * Returns the same name for the same inputs and settings, so that a run never resumes with other
 * settings.
 */
export function nameOfRun(settings: unknown): string {
  return createHash('sha256').update(JSON.stringify(settings)).digest('hex');
}

/** Links the file to its final name. @throws EEXIST if the name is taken */
async function place(own: string, path: string): Promise<void> {
  try {
    await link(own, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error;
    // A file system without hard links. An empty lock there counts as the lock of a dead process.
    await writeFile(path, await readFile(own), { flag: 'wx', mode: 0o600 });
  }
}

/** Returns the process id in a lock, or undefined without a lock. */
async function holderOf(lock: string): Promise<number | undefined> {
  return readFile(lock, 'utf8').then(Number, (error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  });
}

/**
 * Returns true if another process runs under the pid. In a container, a killed process often had
 * the same pid as this process.
 */
function isAtWork(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}
