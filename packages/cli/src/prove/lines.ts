import { createReadStream } from 'node:fs';

export interface Line {
  readonly text: string;
  /** The byte offset of the next line. */
  readonly end: number;
}

/**
 * Reads the lines of a JSON Lines file. readline would also split at U+2028, which a reference can
 * hold. Skips a last line without a line break, which a crash cut off.
 */
export async function* linesOf(path: string, start = 0): AsyncGenerator<Line, void, undefined> {
  let rest: Buffer = Buffer.alloc(0);
  let end = start;
  for await (const piece of createReadStream(path, {
    start,
    highWaterMark: 1 << 18,
  }) as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    let from = 0;
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, from)) {
      end += at + 1 - from;
      yield { text: bytes.toString('utf8', from, at), end };
      from = at + 1;
    }
    rest = bytes.subarray(from);
  }
}
