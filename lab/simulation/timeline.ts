/** A readable log of a history. */
export class Timeline {
  readonly #lines: string[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  tell(actor: string, text: string): void {
    this.#lines.push(`${timeOf(this.#now())}  ${actor.padEnd(10)}  ${text}`);
  }

  toString(): string {
    return this.#lines.join('\n');
  }
}

function timeOf(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1_000);
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const clock = parts.map((part) => String(part).padStart(2, '0')).join(':');
  return `${clock}.${String(Math.floor(milliseconds % 1_000)).padStart(3, '0')}`;
}
