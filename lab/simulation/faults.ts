import type { Random } from '../durability/random.js';

/** The faults of one history: probabilities per message, and message delays. */
export interface Weather {
  readonly latency: number;
  readonly slow: number;
  readonly lost: number;
  readonly cut: number;
  readonly doubled: number;
  readonly apiRefuses: number;
}

const CALM: Weather = { latency: 5, slow: 0, lost: 0, cut: 0, doubled: 0, apiRefuses: 0 };

/** Draws the faults, and ends all of them at the end of the fault phase. */
export class Faults {
  #weather: Weather;

  constructor(
    readonly random: Random,
    level: 'calm' | 'rough' | 'storm',
  ) {
    const most = { calm: 0, rough: 0.04, storm: 0.2 }[level];
    const draw = (): number => random.next() * most;
    this.#weather = {
      latency: 1 + random.below(60),
      slow: draw(),
      lost: draw(),
      cut: draw(),
      doubled: draw(),
      apiRefuses: draw() * 2,
    };
  }

  clear(): void {
    this.#weather = CALM;
  }

  /** Returns true if this fault occurs here. */
  strikes(fault: Exclude<keyof Weather, 'latency'>): boolean {
    return this.#weather[fault] > 0 && this.random.chance(this.#weather[fault]);
  }

  /** Returns a message's delay in milliseconds. */
  delay(): number {
    const { latency } = this.#weather;
    // A slow message takes up to a minute, longer than the time limits for it.
    return this.strikes('slow') ? this.random.below(60_000) : this.random.next() * latency;
  }
}
