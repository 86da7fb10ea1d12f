import type { Random } from '../durability/random.js';

/**
 * How bad the weather is in one history: probabilities for each message, and how long a message
 * takes.
 */
export interface Weather {
  readonly latency: number;
  readonly slow: number;
  readonly lost: number;
  readonly cut: number;
  readonly doubled: number;
  readonly apiRefuses: number;
}

const CALM: Weather = { latency: 5, slow: 0, lost: 0, cut: 0, doubled: 0, apiRefuses: 0 };

/** Draws the weather, and clears it up for good at the end of the faults. */
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

  /** Whether this fault strikes here. */
  strikes(fault: Exclude<keyof Weather, 'latency'>): boolean {
    return this.#weather[fault] > 0 && this.random.chance(this.#weather[fault]);
  }

  /** Milliseconds on the way. */
  delay(): number {
    const { latency } = this.#weather;
    // A slow message takes up to a minute, so longer than the limits that wait for it.
    return this.strikes('slow') ? this.random.below(60_000) : this.random.next() * latency;
  }
}
