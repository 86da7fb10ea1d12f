/**
 * Section B: servers on a host, each in its own process, loaded in turn. They start anew several
 * times, because a process keeps its luck with memory: two of the same server differ by a quarter.
 */
import { jsonBody } from './delivery.js';
import { CONTESTANTS, type ContestantName } from './hosts/host.js';
import { HOSTS, type HostName } from './hosts/index.js';
import { prepareLoad } from './load.js';
import type { Row, Section } from './report.js';
import { runRounds } from './rounds.js';
import { onServerCore, startServer } from './server-process.js';
import { median, medianRatio } from './statistics.js';

export interface RacePlan {
  /** The times that the servers start. */
  readonly lives: number;
  /** Seconds of load before the measurement, because a compiling engine proves nothing. */
  readonly warmUp: number;
  /** Seconds of load in each round. */
  readonly slice: number;
  /** Rounds in each life. */
  readonly rounds: number;
}

const RACE_SIZES = { '200 B': 200, '10 kB': 10_000 };

export async function measureHost(host: HostName, plan: RacePlan): Promise<Section> {
  const rows: Row[] = [];
  for (const [size, bytes] of Object.entries(RACE_SIZES)) {
    const lives: number[][][] = [];
    for (let life = 0; life < plan.lives; life++)
      lives.push(await measureLife(host, jsonBody(bytes), plan));
    rows.push(
      ...rowsOf(
        size,
        CONTESTANTS.map((_, index) => lives.flatMap((life) => life[index]!)),
      ),
    );
  }
  return {
    title: HOSTS[host].title,
    notes: [
      'CPU µs: the CPU time that the server used for a request, median. The ratios are ' +
        'requests per CPU second, medians over the rounds.',
    ],
    rows,
  };
}

/** Returns the CPU microseconds of a request in each round, by contestant. */
async function measureLife(host: HostName, body: Buffer, plan: RacePlan): Promise<number[][]> {
  const load = prepareLoad(body);
  const servers = await Promise.all(
    CONTESTANTS.map((contestant) => startServer('serve.ts', [host, contestant], onServerCore)),
  );
  const slices = servers.map((server) => async (): Promise<number> => {
    const before = await server.cpuTime();
    const requests = await load.run(server.port, plan.slice);
    return ((await server.cpuTime()) - before) / requests;
  });
  try {
    for (const { port } of servers) await load.run(port, plan.warmUp);
    return await runRounds(slices, plan.rounds);
  } finally {
    await Promise.all(servers.map((server) => server.close()));
    load.close();
  }
}

function rowsOf(load: string, samples: readonly number[][]): Row[] {
  return CONTESTANTS.map((contestant, index) => ({
    load,
    contestant,
    figures: {
      'CPU µs': median(samples[index]!),
      'to bare': requestsRatio(samples, index, 'bare'),
      'to by hand': requestsRatio(samples, index, 'by hand'),
    },
  }));
}

/** Returns the requests per CPU second, as a ratio to another contestant's. */
function requestsRatio(samples: readonly number[][], index: number, to: ContestantName): number {
  return medianRatio(samples[CONTESTANTS.indexOf(to)]!, samples[index]!);
}
