/**
 * Groups any number of rows by reference, through files on disk. Each file holds the rows whose
 * digests share a prefix. SHA-256 spreads references evenly, so each file fits into memory. A sort
 * would read and write every row several times.
 */
import { appendFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { emptyBooks, enter, type Books } from './books.js';
import { linesOf } from './lines.js';
import type { Row } from './rows.js';

export type UsefulRow = Exclude<Row, { kind: 'useless' }>;

const PARTITIONS = 1_024;
const DIGITS = 3;
/** Bytes of each partition that wait in memory: 16 MiB in total. */
const WAITING = 16_384;

export class Partitions {
  readonly #folder: string;
  readonly #waiting = Array.from({ length: PARTITIONS }, () => ({
    bytes: Buffer.allocUnsafeSlow(WAITING),
    length: 0,
  }));
  readonly #written = new Set<number>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  async add(digest: string, row: UsefulRow): Promise<void> {
    const line = `${JSON.stringify([digest, row])}\n`;
    const partition = partitionOf(digest);
    const waiting = this.#waiting[partition]!;
    const size = Buffer.byteLength(line);
    if (waiting.length + size > WAITING) await this.#write(partition);
    if (size > WAITING) return this.#append(partition, line);
    waiting.length += waiting.bytes.write(line, waiting.length);
  }

  /** Yields the books of each reference. Call it once, after the last `add`. */
  async *books(): AsyncGenerator<Books, void, undefined> {
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const found = new Map<string, Books>();
      for await (const line of this.#lines(partition)) {
        const [digest, row] = JSON.parse(line) as [string, UsefulRow];
        let books = found.get(digest);
        if (books === undefined) found.set(digest, (books = emptyBooks(digest)));
        enter(books, row);
      }
      yield* found.values();
    }
  }

  async *#lines(partition: number): AsyncGenerator<string, void, undefined> {
    if (this.#written.has(partition)) {
      await this.#write(partition);
      for await (const { text } of linesOf(this.#pathOf(partition))) yield text;
      await rm(this.#pathOf(partition));
      return;
    }
    const { bytes, length } = this.#waiting[partition]!;
    for (const line of bytes.toString('utf8', 0, length).split('\n')) if (line !== '') yield line;
  }

  async #write(partition: number): Promise<void> {
    const waiting = this.#waiting[partition]!;
    if (waiting.length === 0) return;
    await this.#append(partition, waiting.bytes.subarray(0, waiting.length));
    waiting.length = 0;
  }

  async #append(partition: number, lines: string | Buffer): Promise<void> {
    this.#written.add(partition);
    await appendFile(this.#pathOf(partition), lines, { mode: 0o600 });
  }

  #pathOf(partition: number): string {
    return join(this.#folder, `rows-${partition}.jsonl`);
  }
}

function partitionOf(digest: string): number {
  return Number.parseInt(digest.slice(0, DIGITS), 16) % PARTITIONS;
}
