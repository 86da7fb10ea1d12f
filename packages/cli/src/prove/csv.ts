/** Reads rows of a CSV file (RFC 4180), with or without a byte order mark, with any line break. */
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { usageFailure } from '../failure.js';
import { takeStdin } from '../input.js';
import { refuseRepeated } from './rows.js';

/**
 * A longer cell has a quote that is never closed, and the parser would read to the end of the file.
 */
const LONGEST_ROW = 1_000_000;

export interface CsvRow<Column extends string> {
  readonly cells: Readonly<Partial<Record<Column, string>>>;
  /** The input and the row, for messages. */
  readonly where: string;
}

/**
 * @param required lists of columns: the file must have a column of each list
 * @throws Failure if the file cannot be read, is not UTF-8, is not CSV, or lacks a column
 */
export async function* readCsv<Column extends string>(
  path: string,
  option: string,
  known: readonly Column[],
  required: readonly (readonly Column[])[],
): AsyncGenerator<CsvRow<Column>, void, undefined> {
  const bytes =
    path === '-' ? takeStdin(option) : createReadStream(path, { highWaterMark: 1 << 18 });
  const pieces = decoded(bytes, path, option);
  const start = await firstLine(pieces);
  const parser = parse({
    delimiter: delimiterOf(start),
    relax_column_count_less: true,
    max_record_size: LONGEST_ROW,
  });
  const source = Readable.from(withFirst(start, pieces));
  // pipe() does not forward errors.
  source.once('error', (error) => parser.destroy(error)).pipe(parser);
  // Counts as a spreadsheet does: a line break within quotes belongs to its row.
  let row = 0;
  let places: readonly (readonly [Column, number])[] | undefined;
  try {
    for await (const record of parser as AsyncIterable<string[]>) {
      row++;
      if (record.length === 1 && record[0] === '') continue;
      if (places === undefined) {
        const names = record.map((name) => name.trim());
        for (const columns of required) {
          if (columns.some((column) => names.includes(column))) continue;
          throw usageFailure(
            `${option}: the first line of ${nameOf(path)} has no column ${columns.join(' or ')}`,
            `paylink prove reads these columns: ${known.join(', ')}`,
          );
        }
        refuseRepeated(option, known, names, `the first line of ${nameOf(path)}`);
        places = known.flatMap((column) =>
          names.includes(column) ? [[column, names.indexOf(column)] as const] : [],
        );
        continue;
      }
      const cells: Partial<Record<Column, string>> = {};
      for (const [column, place] of places)
        if (record[place] !== undefined) cells[column] = record[place];
      yield { cells, where: `${option}, row ${row}` };
    }
  } catch (error) {
    throw error instanceof CsvError
      ? usageFailure(`${option}: ${nameOf(path)} is not CSV: ${plainly(error)}`)
      : error;
  } finally {
    source.destroy();
    parser.destroy();
  }
  if (places === undefined)
    throw usageFailure(`${option}: ${nameOf(path)} is empty: its first line must name the columns`);
}

/** Rewords the parser's message, which quotes its input. */
function plainly(error: CsvError): string {
  const line = typeof error['lines'] === 'number' ? ` near line ${error['lines']}` : '';
  return `${error.code.replace(/^CSV_/, '').toLowerCase().replaceAll('_', ' ')}${line}`;
}

function nameOf(path: string): string {
  return path === '-' ? 'stdin' : path;
}

/**
 * Decodes UTF-8 and fails on other encodings, which would change references. Drops the byte order
 * mark.
 */
async function* decoded(
  bytes: AsyncIterable<Buffer>,
  path: string,
  option: string,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (piece?: Buffer): string => {
    try {
      return decoder.decode(piece, { stream: piece !== undefined });
    } catch {
      throw usageFailure(`${option}: ${nameOf(path)} is not UTF-8 text`, 'save it as CSV in UTF-8');
    }
  };
  try {
    for await (const piece of bytes) yield decode(piece);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw typeof code === 'string'
      ? usageFailure(`${option}: ${nameOf(path)} cannot be read (${code})`)
      : error;
  }
  yield decode();
}

/** Collects pieces until they hold the first line, because a pipe may split it. */
async function firstLine(pieces: AsyncIterator<string>): Promise<string> {
  let start = '';
  while (!/[\r\n]/.test(start) && start.length <= LONGEST_ROW) {
    const piece = await pieces.next();
    if (piece.done === true) break;
    start += piece.value;
  }
  return start;
}

async function* withFirst(
  first: string,
  rest: AsyncIterable<string>,
): AsyncGenerator<string, void, undefined> {
  if (first !== '') yield first;
  for await (const piece of rest) if (piece !== '') yield piece;
}

/**
 * Detects the delimiter in the first line. Spreadsheets write semicolons in locales with a decimal
 * comma.
 */
function delimiterOf(start: string): string {
  const line = start.split(/[\r\n]/, 1)[0]!.replace(/"[^"]*"/g, '');
  return [',', ';', '\t'].find((delimiter) => line.includes(delimiter)) ?? ',';
}
