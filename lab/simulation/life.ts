import type { Owner } from './virtual-time.js';

/** One life of a merchant's process: a crash ends it, and a restart starts another one. */
export class Life implements Owner {
  alive = true;
  pausedUntil = 0;
  /** Milliseconds of all pauses, up to the end of the last one. */
  pausedFor = 0;
  readonly #onDeath: (() => void)[] = [];

  onDeath(run: () => void): void {
    this.#onDeath.push(run);
  }

  pause(now: number, milliseconds: number): void {
    this.pausedFor += Math.max(0, now + milliseconds - Math.max(now, this.pausedUntil));
    this.pausedUntil = now + milliseconds;
  }

  /** Ends the life: its scheduled events never happen. */
  kill(): void {
    this.alive = false;
    for (const run of this.#onDeath) run();
  }
}
