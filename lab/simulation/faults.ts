import type { Random } from '../random.js';

type Fault = 'slow' | 'lost' | 'cut' | 'doubled' | 'apiRefuses' | 'apiLies';

/** Draws the faults of one history, and ends all of them at the end of the fault phase. */
export class Faults {
  readonly #chances: Record<Fault, number>;
  readonly #latency: number;
  #isOver = false;

  constructor(readonly random: Random) {
    const most = [0, 0.04, 0.04, 0.2][random.below(4)]!;
    const draw = (): number => random.next() * most;
    this.#latency = 1 + random.below(60);
    this.#chances = {
      slow: draw(),
      lost: draw(),
      cut: draw(),
      doubled: draw(),
      apiRefuses: draw() * 2,
      apiLies: draw() / 2,
    };
  }

  end(): void {
    this.#isOver = true;
  }

  /** Returns true if this fault occurs here. */
  strikes(fault: Fault): boolean {
    const chance = this.#chances[fault];
    return !this.#isOver && chance > 0 && this.random.chance(chance);
  }

  /** Returns a message's delay in milliseconds. A slow message exceeds every time limit. */
  delay(): number {
    if (this.#isOver) return 5;
    return this.strikes('slow') ? this.random.below(60_000) : this.random.next() * this.#latency;
  }
}
