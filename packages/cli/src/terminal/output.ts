import { createPaint, wantsColor, type Paint } from './paint.js';
import { escapeText, safeJson, text, toSafe, type Printable, type SafeText } from './safe-text.js';

// Hiding a shorter secret would blank out ordinary words.
const HIDEABLE = 8;

/** Writes results to stdout and messages to stderr. With --json, stdout holds only JSON. */
export class Output {
  readonly paint: Paint;
  readonly #notePaint: Paint;
  readonly #hidden: string[] = [];
  #progressShown = false;

  constructor(readonly isJson: boolean) {
    this.paint = createPaint(!isJson && wantsColor(process.stdout));
    this.#notePaint = createPaint(wantsColor(process.stderr));
  }

  /**
   * Redacts a secret in all later output, even if a server's reply or an error message quotes it.
   */
  hide(...secrets: readonly (string | undefined)[]): void {
    for (const secret of secrets) {
      if (secret === undefined || secret.length < HIDEABLE) continue;
      // Hides the secret itself, its JSON form and its form on a terminal.
      this.#hidden.push(secret, JSON.stringify(secret).slice(1, -1), escapeText(secret));
    }
    // Longest first: redacting a shorter secret inside a longer one would leave the rest readable.
    this.#hidden.sort((a, b) => b.length - a.length);
  }

  /** Returns the text without the hidden secrets. */
  redact(value: string): string {
    return this.#hidden.reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), value);
  }

  /** Writes to stdout as it is. Returns false if the reader is slow. */
  write(part: string): boolean {
    this.clearProgress();
    return process.stdout.write(part);
  }

  /** Writes one result line for people. */
  line(part: Printable = ''): void {
    if (!this.isJson) this.write(`${this.redact(toSafe(part).value)}\n`);
  }

  /** Writes the command's only JSON document. */
  document(value: unknown): void {
    if (this.isJson) this.write(`${safeJson(this.#redactDeep(value), 2)}\n`);
  }

  /** Writes one line of a JSON stream. */
  record(value: unknown): void {
    if (this.isJson) this.write(`${safeJson(this.#redactDeep(value))}\n`);
  }

  /** Writes a message to stderr. */
  note(part: Printable): void {
    this.clearProgress();
    process.stderr.write(`${this.redact(toSafe(part).value)}\n`);
  }

  /** Writes a message to stderr if stderr is a terminal. */
  advise(part: Printable): void {
    if (process.stderr.isTTY) this.note(this.#notePaint.dim(part));
  }

  error(message: string, fixes: readonly string[] = []): void {
    this.note(text`${this.#notePaint.red('error:')} ${message}`);
    for (const fix of fixes) this.note(text`  ${fix}`);
  }

  /** Shows the progress of long work, only on a terminal. The next line replaces it. */
  progress(part: Printable): void {
    if (!process.stderr.isTTY) return;
    process.stderr.write(`\r\u001b[2K${this.redact(this.#notePaint.dim(part).value)}`);
    this.#progressShown = true;
  }

  table(rows: readonly (readonly Printable[])[]): void {
    const cells = rows.map((row) => row.map(toSafe));
    const widths = cells.reduce<number[]>((widest, row) => {
      row.forEach(({ width }, column) => (widest[column] = Math.max(widest[column] ?? 0, width)));
      return widest;
    }, []);
    for (const row of cells) this.line(joinCells(row, widths));
  }

  /** Removes the line of `progress`. */
  clearProgress(): void {
    if (this.#progressShown) process.stderr.write('\r\u001b[2K');
    this.#progressShown = false;
  }

  #redactDeep(value: unknown): unknown {
    if (typeof value === 'string') return this.redact(value);
    if (Array.isArray(value)) return value.map((item) => this.#redactDeep(item));
    if (typeof value !== 'object' || value === null || value instanceof Date) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, this.#redactDeep(item)]),
    );
  }
}

function joinCells(row: readonly SafeText[], widths: readonly number[]): SafeText {
  return row.reduce(
    (line, cell, column) => {
      const isLast = column === row.length - 1;
      const padding = isLast ? '' : ' '.repeat(widths[column]! - cell.width);
      return text`${line}  ${cell}${padding}`;
    },
    text``,
  );
}
