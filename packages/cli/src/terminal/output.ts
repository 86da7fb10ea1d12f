import { createPaint } from './paint.js';
import { escapeText, safeJson, text, toSafe, type Printable } from './safe-text.js';

// Hiding a shorter secret would blank out ordinary words.
const HIDEABLE = 8;
/** The characters of a reply that are enough to identify it. */
const EXCERPT = 300;
/** Milliseconds between two updates of the progress. */
const PROGRESS_INTERVAL = 100;
/** Milliseconds until the speed of the work is known. */
const UNKNOWN = 3_000;
const ERASE_LINE = '\r\u001b[2K';

/** Writes results to stdout and messages to stderr. With --json, stdout holds only JSON. */
export class Output {
  readonly paint = createPaint(process.stdout);
  readonly #notePaint = createPaint(process.stderr);
  readonly #hidden: string[] = [];
  #began: number | undefined;
  #progressAt: number | undefined;

  constructor(readonly isJson: boolean) {}

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

  /** Returns the start of a server's reply. Cuts last, because half a secret would not be found. */
  excerpt(reply: string): string {
    const shown = this.redact(reply).trim();
    return shown.length > EXCERPT ? `${shown.slice(0, EXCERPT)}…` : shown;
  }

  /** Writes one result line for people. */
  line(part: Printable = ''): void {
    if (!this.isJson) this.#write(process.stdout, this.redact(toSafe(part).value));
  }

  /** Writes lines whose columns align. */
  async table(rows: readonly (readonly Printable[])[]): Promise<void> {
    if (this.isJson) return;
    const { default: stringWidth } = await import('string-width');
    const cells = rows.map((row) => row.map((cell) => toSafe(cell).value));
    const widths = cells.reduce<number[]>((widest, row) => {
      row.forEach((cell, at) => (widest[at] = Math.max(widest[at] ?? 0, stringWidth(cell))));
      return widest;
    }, []);
    for (const row of cells) {
      const padded = row.map((cell, at) => cell + ' '.repeat(widths[at]! - stringWidth(cell)));
      // The last column needs no padding.
      const line = [...padded.slice(0, -1), row.at(-1)].join('  ');
      this.#write(process.stdout, this.redact(`  ${line}`));
    }
  }

  /** Writes the command's only JSON document. */
  document(value: unknown): void {
    if (this.isJson) this.#write(process.stdout, safeJson(this.#redactDeep(value), 2));
  }

  /** Writes one line of a JSON stream. */
  record(value: unknown): void {
    if (this.isJson) this.#write(process.stdout, safeJson(this.#redactDeep(value)));
  }

  /** Writes a message to stderr. */
  note(part: Printable): void {
    this.#write(process.stderr, this.redact(toSafe(part).value));
  }

  error(message: string, fixes: readonly string[] = []): void {
    this.note(text`${this.#notePaint.red('error:')} ${message}`);
    for (const fix of fixes) this.note(text`  ${fix}`);
  }

  /**
   * Shows the progress of long work, only on a terminal. The next line replaces it.
   *
   * @param share the part that is done, 0 to 1, from which the rest of the time is estimated
   */
  progress(part: Printable, share = 0): void {
    this.#began ??= performance.now();
    const isTooSoon = performance.now() - (this.#progressAt ?? -Infinity) < PROGRESS_INTERVAL;
    if (!process.stderr.isTTY || isTooSoon) return;
    const shown = text`${part}${timeLeft(performance.now() - this.#began, share)}`;
    process.stderr.write(`${ERASE_LINE}${this.redact(this.#notePaint.dim(shown).value)}`);
    this.#progressAt = performance.now();
  }

  #write(stream: NodeJS.WritableStream, line: string): void {
    if (this.#progressAt !== undefined) process.stderr.write(ERASE_LINE);
    this.#progressAt = undefined;
    stream.write(`${line}\n`);
  }

  #redactDeep(value: unknown): unknown {
    if (typeof value === 'string') return this.redact(value);
    // JSON has no bigint.
    if (typeof value === 'bigint') return String(value);
    if (Array.isArray(value)) return value.map((item) => this.#redactDeep(item));
    if (typeof value !== 'object' || value === null || value instanceof Date) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, this.#redactDeep(item)]),
    );
  }
}

/** Estimates the rest of the time: ", about 40 s left". */
function timeLeft(milliseconds: number, share: number): string {
  if (milliseconds < UNKNOWN || share <= 0) return '';
  const seconds = Math.ceil((milliseconds * (1 - share)) / share / 1_000);
  return seconds < 100
    ? `, about ${seconds} s left`
    : `, about ${Math.ceil(seconds / 60)} min left`;
}
