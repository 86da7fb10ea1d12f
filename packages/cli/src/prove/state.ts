/**
 * The state of a run in files, so that memory does not grow with the books, and a stopped run
 * continues. The folder is the one that the user named, or one of this run's own that is deleted at
 * its end. A folder that the user named can hold other files, so the name of each begins with
 * `.paylink-prove-`:
 *
 * - `books.json`: the time at which the books were read to their end, and the settled orders.
 *   Written last, at once.
 * - `questions.jsonl`: the books of each order that the service is asked about.
 * - `settled.jsonl`: the findings of the books alone.
 * - `answers.jsonl`: the findings of the service's answers, and after some of them a checkpoint.
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

/** The facts of the books alone. */
export interface BooksRead {
  /** Of the command line: another one is another run. */
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
  /** Payments that the service has shown. */
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

  /** @throws Failure if another run is at work in the folder. */
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
   * It appears with its content. A dead lock is moved away and checked again, since another run may
   * start at the same time.
   */
  async #takeLock(): Promise<void> {
    const path = this.#at('lock');
    const own = this.#at(`lock.${process.pid}`);
    const held = (holder: string): Error =>
      usageFailure(
        `--state: another run (${holder}) is at work in ${this.path}`,
        `if it is not: remove ${path}`,
      );
    try {
      // Of a run that was killed here and had the same process id.
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
   * The books of the last run, if it was stopped later. @throws Failure if that run had another
   * command line.
   */
  async booksRead(run: string): Promise<BooksRead | undefined> {
    const text = await readFile(this.#at('books.json'), 'utf8').catch(() => undefined);
    if (text === undefined) return undefined;
    const books = JSON.parse(text) as BooksRead;
    if (books.run === run) return books;
    throw usageFailure(
      `--state: ${this.path} is of a run that was stopped and had other inputs`,
      'give the same command line to go on with it, or name another folder',
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

  /**
   * The place of the last checkpoint. Later answers are cut off, since their orders are asked
   * again.
   */
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

  /** The file of the last findings, in the order in which they are shown. */
  final(): LineWriter {
    return new LineWriter(this.#at('final.jsonl'), 'w');
  }

  async *readFinal(): AsyncGenerator<Finding, void, undefined> {
    if ((await sizeOf(this.#at('final.jsonl'))) === 0) return;
    for await (const { text } of linesOf(this.#at('final.jsonl')))
      yield JSON.parse(text) as Finding;
  }

  /** @param goesOn whether a later run continues this one */
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

/** Lines of JSON, each written in the order of its call. */
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
 * The same for the same inputs and settings, so that a state is never resumed with other settings.
 */
export function nameOfRun(settings: unknown): string {
  return createHash('sha256').update(JSON.stringify(settings)).digest('hex');
}

/** Gives the file its other name. @throws EEXIST if there is one of that name */
async function place(own: string, path: string): Promise<void> {
  try {
    await link(own, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error;
    // A file system without hard links. A lock that is still empty counts as that of a dead process
    // there.
    await writeFile(path, await readFile(own), { flag: 'wx', mode: 0o600 });
  }
}

/** The process of a lock, undefined without a lock. */
async function holderOf(lock: string): Promise<number | undefined> {
  return readFile(lock, 'utf8').then(Number, (error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  });
}

/**
 * A command has one run. In a container its pid is often that of the process that was killed before
 * it.
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
