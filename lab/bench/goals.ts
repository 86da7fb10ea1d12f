/** The floors of the bench (docs/performance.md). `--check` fails below one. */
import type { HostName } from './hosts/index.js';
import type { Goal, Section } from './report.js';

/** Requests per CPU second, relative to the usual way by hand on the same host. */
const HOST_FLOORS: Readonly<Record<HostName, Readonly<Record<string, number>>>> = {
  node: { '200 B': 1.15, '10 kB': 1 },
  express: { '200 B': 1.45, '10 kB': 1.25 },
  fastify: { '200 B': 1.2, '10 kB': 1.12 },
  koa: { '200 B': 1.45, '10 kB': 1.1 },
  hono: { '200 B': 1.25, '10 kB': 1 },
};

/** Time of `verify`, relative to `createHmac`, a comparison and `JSON.parse` by hand. */
const VERIFY_CEILINGS = { '200 B': 0.93, '1 kB': 0.96, '10 kB': 1.02, '100 kB': 1.05 };

export function goalsOfVerify(events: Section): Goal[] {
  return Object.entries(VERIFY_CEILINGS).map(([load, goal]) => ({
    title: `verify, ${load}: time to by hand`,
    bound: 'at most',
    goal,
    reached: figureOf(events, load, 'ratio'),
  }));
}

export function goalsOfHost(name: HostName, section: Section): Goal[] {
  return Object.entries(HOST_FLOORS[name]).map(([load, goal]) => ({
    title: `${section.title}, ${load}: requests per CPU second to by hand`,
    bound: 'at least',
    goal,
    reached: figureOf(section, load, 'to by hand'),
  }));
}

function figureOf({ rows }: Section, load: string, figure: string): number {
  return rows.find((row) => row.load === load && row.contestant === 'paylink')!.figures[figure]!;
}
