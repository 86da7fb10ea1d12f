/**
 * Measures a new delivery: Express with createPayments, compared with a hand-written BEGIN, mark,
 * credit and COMMIT, over two networks and with pools of two sizes. The contestants take turns in
 * one run, and each request has its own order. Their servers start several times, because V8 can
 * compile one process worse than the next. PostgreSQL does not wait for the disk, because that wait
 * is equal for both and would hide the difference. The statements of createPayments, sent without
 * it, show what createPayments costs by itself.
 *
 * `pnpm lab bench-postgres [lives] [--json] [--write]`. `--write` writes docs/performance.md.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Pool } from 'pg';
import { startPostgres } from '../../test/servers/postgres.js';
import { columns } from '../columns.js';
import { readOptions } from '../options.js';
import type { Contestant } from './postgres-contestants.js';
import { Race, type Sample } from './postgres-race.js';
import { runRounds } from './rounds.js';
import { median, medianRatio } from './statistics.js';
import { writeCredits, type CreditRow } from './write-docs.js';

const { values: flags, positionals } = readOptions({
  allowPositionals: true,
  options: { json: { type: 'boolean' }, write: { type: 'boolean' } },
});
const LIVES = Number(positionals[0] ?? 3);
const ROUNDS_IN_LIFE = 2;
const POOLS = [2, 10];
/**
 * Milliseconds per round trip to the database, and the least share of the hand-written requests per
 * second.
 */
const NETWORKS = [
  { roundTrip: 0, goal: 0.85 },
  { roundTrip: 5, goal: 1.2 },
];
/** The least share of the rate of the same statements, on loopback and a pool of 10. */
const OF_STATEMENTS = 0.95;
interface Row {
  readonly what: string;
  readonly value: number;
  readonly spread: readonly [number, number];
  readonly goal: string;
  readonly reached: boolean;
}

const postgres = await startPostgres({ fsync: 'off', max_connections: 200 });
const admin = new Pool({ connectionString: postgres.url, max: 1 });
const delays = fork(new URL('postgres-delay.ts', import.meta.url), [String(postgres.port)]);
const rows: Row[] = [];
const credits: CreditRow[] = [];
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

for (const { roundTrip, goal } of NETWORKS) {
  let port = postgres.port;
  if (roundTrip > 0) {
    delays.send(roundTrip);
    [port] = (await once(delays, 'message')) as [number];
  }
  for (const poolSize of POOLS) {
    const samples: Record<Contestant, Sample[]> = { byHand: [], payments: [], statements: [] };
    const names = Object.keys(samples) as Contestant[];
    for (let life = 0; life < LIVES; life++) {
      const races: Race[] = [];
      for (const contestant of names) {
        const { url, straight } = await databaseOf(port);
        races.push(await Race.start(contestant, url, straight, poolSize));
      }
      const slices = races.map((race) => () => race.slice());
      // The first server has waited for the others, and is slow after it.
      await runRounds(slices, 1);
      const rounds = await runRounds(slices, ROUNDS_IN_LIFE);
      for (const [index, name] of names.entries()) samples[name].push(...rounds[index]!);
      for (const race of races) await race.end();
    }
    const pick = (name: Contestant, field: keyof Sample): number[] =>
      samples[name].map((sample) => sample[field]);
    const ratio = (name: Contestant, to: Contestant = 'byHand'): Pick<Row, 'value' | 'spread'> =>
      ratioOf(pick(name, 'requestsPerSecond'), pick(to, 'requestsPerSecond'));
    const what = `${roundTrip} ms to the database, pool of ${poolSize}`;
    const row = ratio('payments');
    rows.push({ what, ...row, goal: `≥ ${goal}`, reached: row.value >= goal });
    if (roundTrip === 0 && poolSize === 10) {
      const own = ratio('payments', 'statements');
      const reached = own.value >= OF_STATEMENTS;
      rows.push({ what: 'the same statements', ...own, goal: `≥ ${OF_STATEMENTS}`, reached });
    }
    const cpuOf = (name: Contestant): string =>
      `${median(pick(name, 'cpuMicrosecondsPerRequest')).toFixed(0)} µs`;
    const cpu = { payments: cpuOf('payments'), byHand: cpuOf('byHand') };
    credits.push({ roundTrip, poolSize, ratio: row.value, goal, cpu });
    console.error(
      `${what}: CPU of the server ${cpu.payments}, by hand ${cpu.byHand}; ` +
        `the statements alone ${ratio('statements').value.toFixed(2)}`,
    );
  }
}

delays.disconnect();
await admin.end();
await postgres.close();

if (flags.json) console.log(JSON.stringify({ lives: LIVES, rows }, null, 2));
else {
  console.log(
    `${LIVES} lives of ${ROUNDS_IN_LIFE} rounds, medians of each round's own ratio, to by hand unless named\n`,
  );
  const cells = rows.map(({ what, value, spread, goal, reached }) => [
    ...[what, value.toFixed(2), spread.map((ratio) => ratio.toFixed(2)).join(' to '), goal],
    reached ? 'reached' : 'NOT reached',
  ]);
  console.log(columns(['', 'ratio', 'spread', 'goal', ''], cells));
}
if (flags.write) await writeCredits(credits);
if (rows.some(({ reached }) => !reached)) process.exitCode = 1;
