/** The goals of the bench. One that is missed is reported and fails nothing, but with `--check`: machines are noisy. */
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
    atMost(
      0.85,
      'verify with JSON and event at 200 B, of by hand',
      ratioOf(events, '200 B', 'ratio'),
    ),
  ];
}

export function goalsOfHost(name: HostName, section: Section): Goal[] {
  return LEAST[name].flatMap(({ of, size, times }) => [
    atLeast(
      times,
      `${section.title} at ${size}, requests/s of ${of}`,
      ratioOf(section, size, `req/s /${of}`),
      false,
    ),
    // How near a check comes to none at all is the host's share; what is ours shows beside `least`.
    atLeast(
      times,
      `${section.title} at ${size}, requests a CPU second of ${of}`,
      1 / ratioOf(section, size, `CPU /${of}`),
      of !== 'bare',
    ),
  ]);
}

/** Whether a goal that is checked is missed by a third: noise does not get there, and a lost third does. */
export function isFarMissed({ bound, goal, reached, checked }: Goal): boolean {
  return checked && (bound === 'at least' ? reached < (goal * 2) / 3 : reached > (goal * 3) / 2);
}

type LeastOf = 'bare' | 'by hand' | 'least';

const NEAR_LEAST = { of: 'least', size: '200 B', times: 0.97 } as const;

/** As many requests a second as the other contestant, at least. */
const LEAST: Readonly<
  Record<
    HostName,
    readonly { readonly of: LeastOf; readonly size: RaceSize; readonly times: number }[]
  >
> = {
  node: [
    { of: 'bare', size: '200 B', times: 0.75 },
    { of: 'by hand', size: '200 B', times: 1.15 },
    { of: 'by hand', size: '10 kB', times: 1 },
    NEAR_LEAST,
  ],
  express: [
    { of: 'by hand', size: '200 B', times: 1.4 },
    { of: 'by hand', size: '10 kB', times: 1.2 },
    NEAR_LEAST,
  ],
  fastify: [
    { of: 'bare', size: '200 B', times: 0.75 },
    { of: 'by hand', size: '200 B', times: 1.2 },
    { of: 'by hand', size: '10 kB', times: 1 },
    NEAR_LEAST,
  ],
  koa: [
    { of: 'bare', size: '200 B', times: 0.75 },
    { of: 'by hand', size: '200 B', times: 1.2 },
    { of: 'by hand', size: '10 kB', times: 1.2 },
    NEAR_LEAST,
  ],
  hono: [
    { of: 'bare', size: '200 B', times: 0.9 },
    { of: 'by hand', size: '200 B', times: 1.2 },
    NEAR_LEAST,
  ],
};

function ratioOf({ rows }: Section, load: string, figure: string): number {
  return rows.find((row) => row.load === load && row.contestant === 'paylink')!.figures[figure]!;
}

function atMost(goal: number, title: string, reached: number): Goal {
  return { title, bound: 'at most', goal, reached, checked: true };
}

function atLeast(goal: number, title: string, reached: number, checked: boolean): Goal {
  return { title, bound: 'at least', goal, reached, checked };
}
