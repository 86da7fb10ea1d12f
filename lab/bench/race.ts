/** Section B: servers on a host, each in its own process, loaded in turn. */
import { jsonBody } from './delivery.js';
import { CONTESTANTS, type ContestantName } from './hosts/host.js';
import { HOSTS, type HostName } from './hosts/index.js';
import { prepareLoad } from './load.js';
import type { Row, Section } from './report.js';
import { runRounds } from './rounds.js';
import { startServer, type ServerProcess } from './server-process.js';
import { median, medianRatio } from './statistics.js';

export interface RacePlan {
  /** Seconds of load before the measurement, because a compiling engine proves nothing. */
  readonly warmUp: number;
  /** Seconds of load in each round. */
  readonly slice: number;
  readonly rounds: number;
}

const RACE_SIZES = { '200 B': 200, '10 kB': 10_000 };

const NAMES: Record<ContestantName, string> = {
  bare: 'bare',
  byHand: 'by hand',
  paylink: 'paylink',
};

export async function measureHost(host: HostName, plan: RacePlan): Promise<Section> {
  const servers = await Promise.all(CONTESTANTS.map((contestant) => startServer(host, contestant)));
  try {
    const rows: Row[] = [];
    for (const [size, bytes] of Object.entries(RACE_SIZES))
      rows.push(...(await measureSize(servers, size, jsonBody(bytes), plan)));
    return {
      title: HOSTS[host].title,
      notes: [
        'CPU µs: the CPU time that the server used for a request, median. The ratios are ' +
          'requests per CPU second, medians over the rounds.',
      ],
      rows,
    };
  } finally {
    for (const server of servers) server.close();
  }
}

async function measureSize(
  servers: readonly ServerProcess[],
  size: string,
  body: Buffer,
  plan: RacePlan,
): Promise<Row[]> {
  const load = prepareLoad(body);
  const slices = servers.map((server) => async (): Promise<number> => {
    const before = await server.cpuTime();
    const requests = await load.run(server.port, plan.slice);
    return ((await server.cpuTime()) - before) / requests;
  });
  try {
    for (const { port } of servers) await load.run(port, plan.warmUp);
    const samples = await runRounds(slices, plan.rounds);
    return CONTESTANTS.map((contestant, index) => ({
      load: size,
      contestant: NAMES[contestant],
      figures: {
        'CPU µs': median(samples[index]!),
        'to bare': requestsRatio(samples, index, 'bare'),
        'to by hand': requestsRatio(samples, index, 'byHand'),
      },
    }));
  } finally {
    load.close();
  }
}

/** Returns the requests per CPU second, as a ratio to another contestant's. */
function requestsRatio(samples: readonly number[][], index: number, to: ContestantName): number {
  return medianRatio(samples[CONTESTANTS.indexOf(to)]!, samples[index]!);
}
