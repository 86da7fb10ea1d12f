/** Measures and prints. `--quick`: shorter and less sure; `--json`: for machines. */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { goalsOf } from './goals.js';
import { HOSTS, type HostName } from './hosts/index.js';
import { measureEvents, measureSignatures } from './loop.js';
import { measureHost } from './race.js';
import type { Report, Section } from './report.js';
import { formatReport } from './table.js';

const { values: flags } = parseArgs({ options: { quick: { type: 'boolean' }, json: { type: 'boolean' } } });

const plan = flags.quick
  ? { loop: { sliceMs: 5, rounds: 24 }, race: { sliceMs: 200, rounds: 9 } }
  : { loop: { sliceMs: 10, rounds: 100 }, race: { sliceMs: 250, rounds: 40 } };

const report = await measure();
console.log(flags.json ? JSON.stringify(report, undefined, 2) : formatReport(report));

async function measure(): Promise<Report> {
  const signatures = await measureSignatures(plan.loop);
  const events = await measureEvents(plan.loop);
  const hosts: Section[] = [];
  for (const host of Object.keys(HOSTS) as HostName[]) hosts.push(await measureHost(host, plan.race));
  return {
    node: process.versions.node,
    cpu: `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'an unknown CPU'}`,
    sections: [signatures, events, ...hosts],
    goals: goalsOf(signatures, events, hosts),
  };
}
