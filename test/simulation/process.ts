import type { Owner } from './virtual-time.js';

/** One life of a merchant's process: a crash ends it, and a restart is another one. */
export class Life implements Owner {
  alive = true;
  pausedUntil = 0;
  readonly #onDeath: (() => void)[] = [];

  constructor(readonly name: string) {}

  onDeath(run: () => void): void {
    this.#onDeath.push(run);
  }

  /** Kills it: nothing that it scheduled happens any more, and its connections are found broken by the others. */
  kill(): void {
    this.alive = false;
    for (const run of this.#onDeath) run();
  }
}
