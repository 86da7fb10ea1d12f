/** Section B: servers on a host, each in its own process, loaded in turn. */
import { jsonBody } from './delivery.js';
import { CONTESTANTS, type ContestantName } from './hosts/host.js';
import { HOSTS, type HostName } from './hosts/index.js';
import { connectLoad } from './load.js';
import type { Row, Section } from './report.js';
import { runRounds } from './rounds.js';
import { startServer, type ServerProcess } from './server-process.js';
import { median, medianRatio, middleHalf } from './statistics.js';

export interface RacePlan {
  /** Milliseconds of load before the measurement, because a compiling engine proves nothing. */
  readonly warmUpMs: number;
  readonly sliceMs: number;
  readonly rounds: number;
}

const RACE_SIZES = { '200 B': 200, '10 kB': 10_000 };

const NAMES: Record<ContestantName, string> = {
  bare: 'bare',
  byHand: 'by hand',
  least: 'least',
  paylink: 'paylink',
};

interface Sample {
  readonly perSecond: number;
  readonly cpuMicros: number;
  readonly cores: number;
}

export async function measureHost(host: HostName, plan: RacePlan): Promise<Section> {
  const servers = await Promise.all(CONTESTANTS.map((contestant) => startServer(host, contestant)));
  try {
    const rows: Row[] = [];
    for (const [size, bytes] of Object.entries(RACE_SIZES))
      rows.push(...(await measureSize(servers, size, jsonBody(bytes), plan)));
    return {
      title: HOSTS[host].title,
      notes: [
        'req/s and CPU µs (the CPU time that the server used for a request): medians. ' +
          '/bare, /by hand and /least: median ratio over the rounds.',
        'cores: how busy the server was. Below 0.9 something else held it up, and only ' +
          'the CPU time tells anything.',
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
  const loads = await Promise.all(servers.map(({ port }) => connectLoad(port, body)));
  const slices = servers.map((server, index) => async (): Promise<Sample> => {
    const before = await server.cpuTime();
    const { requests, seconds } = await loads[index]!.run(plan.sliceMs);
    const used = (await server.cpuTime()) - before;
    return {
      perSecond: requests / seconds,
      cpuMicros: used / requests,
      cores: used / 1e6 / seconds,
    };
  });
  for (const load of loads) await load.run(plan.warmUpMs);
  const samples = await runRounds(slices, plan.rounds);
  for (const load of loads) load.close();
  return CONTESTANTS.map((contestant, index) => ({
    load: size,
    contestant: NAMES[contestant],
    figures: figuresOf(samples, index),
    spread: spreadOf(samples, index),
  }));
}

function valuesIn(samples: readonly Sample[][]) {
  return (figure: keyof Sample, of: number): number[] =>
    samples[of]!.map((sample) => sample[figure]);
}

function spreadOf(samples: readonly Sample[][], index: number): NonNullable<Row['spread']> {
  const valuesOf = valuesIn(samples);
  const others = CONTESTANTS.filter((name) => name !== 'paylink');
  return Object.fromEntries(
    others.map((name) => [
      `CPU /${NAMES[name]}`,
      middleHalf(valuesOf('cpuMicros', index), valuesOf('cpuMicros', CONTESTANTS.indexOf(name))),
    ]),
  );
}

function figuresOf(samples: readonly Sample[][], index: number): Row['figures'] {
  const valuesOf = valuesIn(samples);
  const ratioOf = (figure: keyof Sample, to: ContestantName): number =>
    medianRatio(valuesOf(figure, index), valuesOf(figure, CONTESTANTS.indexOf(to)));
  return {
    'req/s': median(valuesOf('perSecond', index)),
    'req/s /bare': ratioOf('perSecond', 'bare'),
    'req/s /by hand': ratioOf('perSecond', 'byHand'),
    'req/s /least': ratioOf('perSecond', 'least'),
    'CPU µs': median(valuesOf('cpuMicros', index)),
    'CPU /bare': ratioOf('cpuMicros', 'bare'),
    'CPU /by hand': ratioOf('cpuMicros', 'byHand'),
    'CPU /least': ratioOf('cpuMicros', 'least'),
    cores: median(valuesOf('cores', index)),
  };
}
