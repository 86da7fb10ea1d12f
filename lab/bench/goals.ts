/**
 * The floors of the bench. A miss is reported and fails nothing unless `--check` is given, because
 * machines are noisy. Being faster than a floor is no goal.
 */
import type { HostName } from './hosts/index.js';
import type { Goal, Section } from './report.js';

/** Requests for each CPU second, over the same host by hand, at 200 B. */
const OF_BY_HAND: Readonly<Record<HostName, number>> = {
  node: 1.2,
  express: 1.4,
  fastify: 1.3,
  koa: 1.45,
  hono: 1.3,
};

/** The same over the bare host: the check and the handler take the rest. */
const OF_BARE = 0.9;

export function goalsOfLoop(signatures: Section): Goal[] {
  const reached = ratioOf(signatures, '200 B', 'ratio');
  return [
    {
      title: 'HMAC and comparison at 200 B, time of by hand',
      bound: 'at most',
      goal: 0.75,
      reached,
      checked: true,
    },
  ];
}

export function goalsOfHost(name: HostName, section: Section): Goal[] {
  const goal = (of: string, least: number, checked: boolean): Goal => ({
    title: `${section.title} at 200 B, requests a CPU second of ${of}`,
    bound: 'at least',
    goal: least,
    reached: 1 / ratioOf(section, '200 B', `CPU /${of}`),
    checked,
  });
  // How near a check comes to no check at all is the host's share.
  return [goal('by hand', OF_BY_HAND[name], true), goal('bare', OF_BARE, false)];
}

/** Whether a goal that is checked is missed by a third: noise does not get there, and a lost third does. */
export function isFarMissed({ bound, goal, reached, checked }: Goal): boolean {
  return checked && (bound === 'at least' ? reached < (goal * 2) / 3 : reached > (goal * 3) / 2);
}

function ratioOf({ rows }: Section, load: string, figure: string): number {
  return rows.find((row) => row.load === load && row.contestant === 'paylink')!.figures[figure]!;
}
