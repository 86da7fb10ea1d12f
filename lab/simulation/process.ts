import type { Owner } from './virtual-time.js';

/** One life of a merchant's process: a crash ends it, and a restart starts another one. */
export class Life implements Owner {
  alive = true;
  pausedUntil = 0;
  /** Milliseconds of all pauses, up to the end of the last one. */
  pausedFor = 0;
  readonly #onDeath: (() => void)[] = [];

  /** @param number 1 for the first life of this process */
  constructor(
    readonly name: string,
    readonly number: number,
  ) {}

  onDeath(run: () => void): void {
    this.#onDeath.push(run);
  }

  pause(now: number, milliseconds: number): void {
    this.pausedFor += Math.max(0, now + milliseconds - Math.max(now, this.pausedUntil));
    this.pausedUntil = now + milliseconds;
  }

  /**
   * Kills the process: its scheduled events never happen, and others find its connections broken.
   */
  kill(): void {
    this.alive = false;
    for (const run of this.#onDeath) run();
  }
}
