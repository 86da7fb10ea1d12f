/** What we hold ourselves to. A goal that is missed is told; it fails nothing, since machines are noisy. */
import type { HostName } from './hosts/index.js';
import { SIZES } from './loop.js';
import type { RaceSize } from './race.js';
import type { Goal, Section } from './report.js';

export function goalsOfLoop(signatures: Section, events: Section): Goal[] {
  return [
    atMost(0.6, 'HMAC and comparison at 200 B, of by hand', ratioOf(signatures, '200 B', 'ratio')),
    atMost(0.75, 'HMAC and comparison at 1 kB, of by hand', ratioOf(signatures, '1 kB', 'ratio')),
    atMost(
      1.05,
      'HMAC and comparison at its worst size, of by hand',
      Math.max(...Object.keys(SIZES).map((size) => ratioOf(signatures, size, 'ratio'))),
    ),
    atMost(0.85, 'verify with JSON and event at 200 B, of by hand', ratioOf(events, '200 B', 'ratio')),
  ];
}

export function goalsOfHost(name: HostName, section: Section): Goal[] {
  return LEAST[name].flatMap(({ of, size, times }) => [
    atLeast(times, `${section.title} at ${size}, requests/s of ${of}`, ratioOf(section, size, `req/s /${of}`)),
    atLeast(times, `${section.title} at ${size}, requests a CPU second of ${of}`, 1 / ratioOf(section, size, `CPU /${of}`)),
  ]);
}

interface HostGoal {
  readonly of: 'bare' | 'by hand';
  readonly size: RaceSize;
  /** As many requests, in a second and in a second of CPU time. */
  readonly times: number;
}

const NEAR_BARE: HostGoal = { of: 'bare', size: '200 B', times: 0.75 };

const LEAST: Readonly<Record<HostName, readonly HostGoal[]>> = {
  node: [NEAR_BARE, { of: 'by hand', size: '200 B', times: 1.15 }],
  express: [
    { of: 'by hand', size: '200 B', times: 1.1 },
    { of: 'by hand', size: '10 kB', times: 1.1 },
  ],
  fastify: [NEAR_BARE, { of: 'by hand', size: '200 B', times: 1.5 }, { of: 'by hand', size: '10 kB', times: 1.5 }],
  koa: [NEAR_BARE, { of: 'by hand', size: '200 B', times: 1.15 }],
  hono: [],
};

function ratioOf({ rows }: Section, load: string, figure: string): number {
  return rows.find((row) => row.load === load && row.contestant === 'paylink')!.figures[figure]!;
}

function atMost(goal: number, title: string, reached: number): Goal {
  return { title, bound: 'at most', goal, reached };
}

function atLeast(goal: number, title: string, reached: number): Goal {
  return { title, bound: 'at least', goal, reached };
}
