/**
 * Measures the cost of the mark: Express with postgresStore and with createPayments, compared with
 * a hand-written mark and credit in one transaction, over networks of three delays and pools of two
 * sizes. Then measures the cost of a replay flood for new orders. All contestants take turns in one
 * run, and each request has its own order. PostgreSQL does not wait for the disk, because that wait
 * is equal for all and would hide the difference.
 *
 * `pnpm lab bench-postgres [rounds] [--json]`
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { startPostgres } from '../../test/servers/postgres.js';
import { forged } from './delivery.js';
import { openFlood, type Flood } from './flood.js';
import { openPool } from './postgres-pool.js';
import { Race, type Sample } from './postgres-race.js';
import { runRounds } from './rounds.js';
import { median, medianRatio } from './statistics.js';

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean' } },
});
const ROUNDS = Number(positionals[0] ?? 7);
const POOLS = [2, 10];
/**
 * Milliseconds per round trip to the database, and the least share of the hand-written requests per
 * second.
 */
const NETWORKS = [
  { roundTrip: 0, goal: 1 },
  { roundTrip: 0.5, goal: 1 },
  { roundTrip: 5, goal: 1.2 },
];
const P99_GOAL = 1.05;
const FLOOD_GOAL = 0.9;
/** The flood's share of the process's highest rate of bad signatures. */
const FLOOD = 0.7;

interface Row {
  readonly what: string;
  readonly value: number;
  readonly spread: readonly [number, number];
  readonly goal?: string;
  readonly reached?: boolean;
}

const postgres = await startPostgres({ fsync: 'off', max_connections: 200 });
const admin = openPool(postgres.url, 1);
const delays = fork(new URL('postgres-delay.ts', import.meta.url), [String(postgres.port)]);
const rows: Row[] = [];
let databases = 0;

async function databaseOf(
  port: number,
): Promise<{ readonly url: string; readonly straight: string }> {
  const name = `shop_${(databases += 1)}`;
  await admin.query(`CREATE DATABASE ${name}`);
  const straight = postgres.url.replace(/[^/]+$/, name);
  return { straight, url: straight.replace(`:${postgres.port}/`, `:${port}/`) };
}

function ratioOf(of: readonly number[], base: readonly number[]): Pick<Row, 'value' | 'spread'> {
  const ratios = of.map((value, round) => value / base[round]!).toSorted((a, b) => a - b);
  return { value: medianRatio(of, base), spread: [ratios[0]!, ratios.at(-1)!] };
}

function row(
  what: string,
  of: readonly number[],
  base: readonly number[],
  goal: number,
  atMost = false,
): void {
  const ratio = ratioOf(of, base);
  const reached = atMost ? ratio.value <= goal : ratio.value >= goal;
  rows.push({ what, ...ratio, goal: `${atMost ? '≤' : '≥'} ${goal}`, reached });
}

/** A row without a goal. */
function note(what: string, of: readonly number[], base: readonly number[]): void {
  rows.push({ what, ...ratioOf(of, base) });
}

for (const { roundTrip, goal } of NETWORKS) {
  let port = postgres.port;
  if (roundTrip > 0) {
    delays.send(roundTrip);
    [port] = (await once(delays, 'message')) as [number];
  }
  for (const poolSize of POOLS) {
    const races: Race[] = [];
    for (const contestant of ['byHand', 'store', 'payments'] as const) {
      const { url, straight } = await databaseOf(port);
      races.push(await Race.start(contestant, url, straight, poolSize));
    }
    const [byHand, store, payments] = (await runRounds(
      races.map((race) => () => race.slice()),
      ROUNDS,
    )) as [Sample[], Sample[], Sample[]];
    for (const race of races) await race.end();
    const at = `${roundTrip} ms to the database, pool of ${poolSize}`;
    const pick = (samples: Sample[], name: keyof Sample): number[] =>
      samples.map((sample) => sample[name]);
    row(
      `requests a second, ${at}`,
      pick(store, 'requestsPerSecond'),
      pick(byHand, 'requestsPerSecond'),
      goal,
    );
    row(`p99, ${at}`, pick(store, 'p99'), pick(byHand, 'p99'), P99_GOAL, true);
    note(
      `requests a second with the look for the mark and the question, ${at}`,
      pick(payments, 'requestsPerSecond'),
      pick(byHand, 'requestsPerSecond'),
    );
    const cpu = (samples: Sample[]): string =>
      median(pick(samples, 'cpuMicrosecondsPerRequest')).toFixed(0);
    console.error(
      `${at}: CPU of the server ${cpu(store)} µs a request, with the question ` +
        `${cpu(payments)}, by hand ${cpu(byHand)}`,
    );
  }
}

const { url, straight } = await databaseOf(postgres.port);
const race = await Race.start('payments', url, straight, 10);
const done = await race.newOrders(2_000);
const replays: Flood = await openFlood(race.port, done);
const bad: Flood = await openFlood(race.port, done.map(forged));
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1_000));
// Credits all of them, then measures the highest rate of bad signatures.
await replays.run(1_000, async () => {
  for (let seconds = 0; seconds < 4; seconds += 1) await pause();
});
const most = (await bad.run(1e6, async () => pause().then(pause))).perSecond;
// Both floods use the rate that gets through during new orders: each request needs its own
// connection, so fewer get through than are sent.
const asMany = (await bad.run(most * FLOOD, () => race.slice().then(() => race.slice()))).perSecond;
const beside = (flood: Flood) => async (): Promise<number> =>
  (await flood.run(asMany, () => race.slice())).value.requestsPerSecond;
const [besideBad, besideReplays] = (await runRounds([beside(bad), beside(replays)], ROUNDS)) as [
  number[],
  number[],
];
row(
  `new orders beside ${asMany.toFixed(0)} replays a second, to beside as many bad signatures`,
  besideReplays,
  besideBad,
  FLOOD_GOAL,
);
await replays.end();
await bad.end();
await race.end();

delays.disconnect();
await admin.end();
await postgres.close();

if (flags.json) console.log(JSON.stringify({ rounds: ROUNDS, rows }, null, 2));
else {
  console.log(`${ROUNDS} rounds, medians of each round's own ratio to by hand\n`);
  for (const { what, value, spread, goal, reached } of rows) {
    const [least, greatest] = spread.map((ratio) => ratio.toFixed(2));
    console.log(
      `${what.padEnd(78)}${value.toFixed(2)}  (${least} to ` +
        `${greatest})${goal ? `  goal ${goal}  ${reached ? 'reached' : 'NOT reached'}` : ''}`,
    );
  }
}
if (rows.some(({ reached }) => reached === false)) process.exitCode = 1;
