/**
 * The proof at full length:
 *
 *     pnpm lab durability [kills|duplicates|million]
 *       [--kills N] [--orders N] [--count N] [--seed N] [--design NAME]
 *
 * The tests beside this file run the same code, shorter.
 */
import { readOptions } from '../options.js';
import { startPostgres } from '../../test/servers/postgres.js';
import { DURABLE, startRedis, withoutRedis } from '../../test/servers/redis.js';
import { DESIGN_NAMES, designs, type DesignName } from './designs/index.js';
import { runDuplicates } from './duplicates.js';
import { isAsKnown, runKills, type KillReport } from './kills.js';
import { isFlat, runMillion } from './million.js';
import { columns, progress } from './printing.js';

const { values, positionals } = readOptions({
  allowPositionals: true,
  options: {
    kills: { type: 'string', default: '1000' },
    orders: { type: 'string', default: '1000' },
    copies: { type: 'string', default: '100' },
    count: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    design: { type: 'string', multiple: true, default: DESIGN_NAMES },
  },
});

const RUNS = { kills, duplicates, million };
const [chosen = 'kills'] = positionals;
if (!Object.hasOwn(RUNS, chosen)) {
  console.error(`there is no run ${chosen}: ${Object.keys(RUNS).join(', ')}`);
  process.exit(2);
}

const server = await startPostgres({ max_connections: 200 });
process.once('SIGINT', () => process.exit(130));
try {
  await RUNS[chosen as keyof typeof RUNS]();
} finally {
  await server.close();
}

async function kills(): Promise<void> {
  const skipRedis = withoutRedis();
  const reports: KillReport[] = [];
  for (const design of values.design.map(designNamed)) {
    if (designs[design].needsRedis && skipRedis) continue;
    reports.push(await killsOf(design));
  }
  console.log(
    columns(
      ['design', 'kills', 'seconds', 'cut', 'acknowledged', 'lost', 'doubled', 'early'],
      reports.map((of) => [
        of.design,
        of.kills,
        of.seconds.toFixed(0),
        of.cut,
        of.acknowledged,
        of.lost,
        of.doubled,
        of.early,
      ]),
    ),
  );
  for (const report of reports)
    if (!isAsKnown(report)) fail(`${report.design}: the money is not where it should be`);
}

async function killsOf(design: DesignName): Promise<KillReport> {
  const kills = wholeNumber('kills');
  // One Redis per design, because the orders have the same references in every run.
  const redis = designs[design].needsRedis ? await startRedis(DURABLE) : undefined;
  try {
    const onKill = progress(`${design}: kills`, kills);
    return await runKills(server, {
      design,
      redis: redis?.url,
      kills,
      seed: wholeNumber('seed'),
      onKill,
    });
  } finally {
    await redis?.close();
  }
}

async function duplicates(): Promise<void> {
  const orders = wholeNumber('orders');
  const report = await runDuplicates(server, {
    orders,
    copies: wholeNumber('copies'),
    onOrder: progress('orders', orders),
  });
  console.log(
    columns(
      ['orders', 'deliveries', 'seconds', 'credited', 'lost', 'doubled', 'early', 'replies'],
      [
        [
          orders,
          report.deliveries,
          report.seconds.toFixed(0),
          report.credited,
          report.lost,
          report.doubled,
          report.early,
          [...report.replies].map(([status, times]) => `${times} × ${status}`).join(', '),
        ],
      ],
    ),
  );
  const exact = report.credited === orders && report.lost + report.doubled + report.early === 0;
  if (!exact || [...report.replies.keys()].some((status) => status !== 200 && status !== 503))
    fail('not once each');
}

async function million(): Promise<void> {
  const count = wholeNumber('count');
  const report = await runMillion(server, {
    count,
    seed: wholeNumber('seed'),
    onDelivery: progress('deliveries', count),
  });
  console.log(
    columns(
      [
        'deliveries',
        'seconds',
        'a second',
        'first',
        'duplicates',
        'forged',
        'cut off',
        'credited',
        'lost',
        'doubled',
        'alien',
      ],
      [
        [
          count,
          report.seconds.toFixed(0),
          (count / report.seconds).toFixed(0),
          report.sent.first,
          report.sent.duplicate,
          report.sent.forged,
          report.sent.cutOff,
          report.credited,
          report.lost,
          report.doubled,
          report.alien,
        ],
      ],
    ),
  );
  console.log(
    columns(
      ['memory of each receiver, MB', ...report.memory.map(({ share }) => `at ${share * 100} %`)],
      report.ports.flatMap((port, index) => [
        [
          `${port} resident`,
          ...report.memory.map(({ receivers }) => megabytes(receivers[index]!.rss)),
        ],
        [
          `${port} live`,
          ...report.memory.map(({ receivers }) => megabytes(receivers[index]!.live)),
        ],
      ]),
    ),
  );
  if (!isFlat(report)) fail('the memory grows');
  if (report.credited !== report.sent.first || report.lost + report.doubled + report.alien > 0)
    fail('not the valid ones, once each');
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

function wholeNumber(name: 'kills' | 'orders' | 'copies' | 'count' | 'seed'): number {
  const number = Number(values[name]);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new Error(`--${name} must be a whole number from 1`);
  return number;
}

function designNamed(name: string): DesignName {
  const found = DESIGN_NAMES.find((known) => known === name);
  if (found === undefined) throw new Error(`--design must be one of ${DESIGN_NAMES.join(', ')}`);
  return found;
}

function fail(what: string): void {
  console.error(`FAILED: ${what}`);
  process.exitCode = 1;
}
