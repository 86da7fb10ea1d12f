/**
 * Measures a server under attack: the memory of a thousand slow senders, and genuine requests
 * during a flood of forged ones. `--quick` is shorter and less exact. `--host <name>` measures only
 * that host. `--json` prints JSON.
 */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { measureForgedFlood } from './forged-flood.js';
import { HOST_NAMES } from './hosts/index.js';
import type { Goal, Report, Row } from './report.js';
import { measureSlowSenders } from './slow-senders.js';
import { formatReport } from './table.js';

const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean' }, host: { type: 'string' }, json: { type: 'boolean' } },
});
const plan = flags.quick ? { rounds: 3, milliseconds: 1_000 } : { rounds: 9, milliseconds: 3_000 };
const hosts = HOST_NAMES.filter((name) => flags.host === undefined || name === flags.host);
if (hosts.length === 0)
  throw new Error(`there is no host ${flags.host}, but ${HOST_NAMES.join(', ')}`);

const senders: Row[] = [];
const floods: Row[] = [];
for (const host of hosts) {
  senders.push(...(await measureSlowSenders(host)));
  floods.push(...(await measureForgedFlood(host, plan)));
}
const atMost = (
  goal: number,
  what: string,
  rows: readonly Row[],
  contestant: string,
  figure: string,
): Goal[] =>
  rows
    .filter((row) => row.contestant === contestant)
    .map(({ load, figures }) => ({
      title: `${load}, ${what}`,
      bound: 'at most',
      goal,
      reached: figures[figure]!,
    }));
const report: Report = {
  node: process.versions.node,
  cpu: `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'an unknown CPU'}`,
  sections: [
    {
      title: 'A thousand senders of 64 kB that never end',
      notes: [
        'kB in use: objects and buffers after a collection, for each sender. kB resident: ' +
          'what the process grew by, with what the engine keeps',
        'for itself. Each server is a fresh process.',
      ],
      rows: senders,
    },
    {
      title: '200 genuine requests a second beside a flood',
      notes: [
        'of them/s: the requests of the flood that were answered; 0.7 of the most bare ' +
          '401s that the server gives alone were asked for.',
        'p99: of the genuine requests, from when each was due; the median. to bare: the ' +
          "median of each round's own ratio.",
      ],
      rows: floods,
    },
  ],
  goals: [
    ...atMost(75, 'kB in use for a slow sender', senders, 'paylink', 'kB in use'),
    ...atMost(
      1.5,
      'p99 beside forged requests, of beside bare 401s',
      floods,
      'beside forged',
      'to bare',
    ),
  ],
};
console.log(flags.json ? JSON.stringify(report, undefined, 2) : formatReport(report));
