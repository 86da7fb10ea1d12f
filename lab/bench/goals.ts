/**
 * The floors of the bench: the ratios in docs/performance.md. A miss is reported. With `--check`, a
 * miss by a third fails. A faster result is not a goal: clear code is worth 5 % of a request.
 */
import type { HostName } from './hosts/index.js';
import type { Goal, Section } from './report.js';

/** Requests per CPU second, relative to the hand-written check on the same host, at 200 B. */
const OF_BY_HAND: Readonly<Record<HostName, number>> = {
  node: 0.7,
  express: 1,
  fastify: 0.7,
  koa: 0.9,
  hono: 0.75,
};

export function goalsOfLoop(signatures: Section): Goal[] {
  const reached = ratioOf(signatures, '200 B', 'ratio');
  return [
    {
      title: 'HMAC and comparison at 200 B, time of by hand',
      bound: 'at most',
      goal: 0.75,
      reached,
    },
  ];
}

export function goalsOfHost(name: HostName, section: Section): Goal[] {
  return [
    {
      title: `${section.title} at 200 B, requests a CPU second of by hand`,
      bound: 'at least',
      goal: OF_BY_HAND[name],
      reached: 1 / ratioOf(section, '200 B', 'CPU /by hand'),
    },
  ];
}

/** Returns true if a goal is missed by a third, which exceeds the noise. */
export function isFarMissed({ bound, goal, reached }: Goal): boolean {
  return bound === 'at least' ? reached < (goal * 2) / 3 : reached > (goal * 3) / 2;
}

function ratioOf({ rows }: Section, load: string, figure: string): number {
  return rows.find((row) => row.load === load && row.contestant === 'paylink')!.figures[figure]!;
}
