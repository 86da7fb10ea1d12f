/** Tests if two kinds of input take different times: Welch's t over many interleaved samples. */
import { randomBytes } from 'node:crypto';

export interface Subject {
  /** Does the same work on either kind of input. */
  readonly run: (input: string) => number | Promise<number>;
  readonly inputs: readonly [string, string];
  /** The runs per sample: more if one run takes little beside the clock. */
  readonly batch: number;
}

/** The dropped samples of both kinds, before the code is compiled. */
const WARM_UP = 4_000;
/** Slower samples were interrupted, by the collector or another process. */
const KEPT = 0.8;

/** Returns Welch's t for the times of two inputs, with `samples` of both together. */
export async function welch({ run, inputs, batch }: Subject, samples: number): Promise<number> {
  const order = randomBytes(samples + WARM_UP);
  const times: [number[], number[]] = [[], []];
  for (let sample = 0; sample < order.length; sample++) {
    // At random, so that other load affects both alike.
    const kind = (order[sample]! & 1) as 0 | 1;
    // Newly written for each sample: on a loaded core, a string's place in memory affects the time,
    // in each round alike.
    const input = Buffer.from(inputs[kind], 'latin1').toString('latin1');
    const started = performance.now();
    for (let time = 0; time < batch; time++) {
      const result = run(input);
      if (typeof result !== 'number') await result;
    }
    const taken = performance.now() - started;
    if (sample >= WARM_UP) times[kind].push(taken);
  }
  return statistic(...cropped(times));
}

function cropped([first, second]: [number[], number[]]): [number[], number[]] {
  // One limit for both, because separate limits would remove the difference.
  const limit = [...first, ...second].sort((a, b) => a - b)[
    Math.floor((first.length + second.length) * KEPT)
  ]!;
  const keep = (times: number[]): number[] => times.filter((time) => time <= limit);
  return [keep(first), keep(second)];
}

function statistic(first: readonly number[], second: readonly number[]): number {
  const [a, b] = [moments(first), moments(second)];
  return (a.mean - b.mean) / Math.sqrt(a.variance / first.length + b.variance / second.length);
}

function moments(times: readonly number[]): { readonly mean: number; readonly variance: number } {
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
  const variance = times.reduce((sum, time) => sum + (time - mean) ** 2, 0) / (times.length - 1);
  return { mean, variance };
}
