/** What we hold ourselves to. A goal that is missed is told; it fails nothing, since machines are noisy. */
import type { HostName } from './hosts/index.js';
import { SIZES } from './loop.js';
import { RACE_SIZES } from './race.js';
import type { Goal, Section } from './report.js';

export function goalsOf(signatures: Section, events: Section, hosts: readonly Section[]): Goal[] {
  return [
    atMost(0.6, 'HMAC and comparison at 200 B, of by hand', ratioOf(signatures, '200 B', 'ratio')),
    atMost(0.75, 'HMAC and comparison at 1 kB, of by hand', ratioOf(signatures, '1 kB', 'ratio')),
    atMost(
      1.05,
      'HMAC and comparison at its worst size, of by hand',
      Math.max(...Object.keys(SIZES).map((size) => ratioOf(signatures, size, 'ratio'))),
    ),
    atMost(0.85, 'verify with JSON and event at 200 B, of by hand', ratioOf(events, '200 B', 'ratio')),
    ...hosts.flatMap((host) =>
      Object.keys(RACE_SIZES).map((size) =>
        atLeast(
          LEAST[host.title as HostName],
          `${host.title} at ${size}, requests/s of by hand`,
          ratioOf(host, size, 'req/s /by hand'),
        ),
      ),
    ),
  ];
}

/** Requests a second, of those of the usual way by hand on the same host. */
const LEAST: Readonly<Record<HostName, number>> = { 'Express 5': 1.1 };

function ratioOf({ rows }: Section, load: string, figure: string): number {
  return rows.find((row) => row.load === load && row.contestant === 'paylink')!.figures[figure]!;
}

function atMost(goal: number, title: string, reached: number): Goal {
  return { title, bound: 'at most', goal, reached };
}

function atLeast(goal: number, title: string, reached: number): Goal {
  return { title, bound: 'at least', goal, reached };
}
