/**
 * Measures and prints. `--quick` is shorter and less exact. `--host <name>` measures only that
 * host. `--json` prints JSON. `--check` exits with 1 below a floor.
 * `--write` writes the tables of docs/performance.md.
 */
import { cpus } from 'node:os';
import { readOptions } from '../options.js';
import { goalsOfHost, goalsOfVerify } from './goals.js';
import { HOST_NAMES, type HostName } from './hosts/index.js';
import { measureEvents, measureSignatures } from './loop.js';
import { measureHost } from './race.js';
import { formatReport, isReached, type Goal, type Report, type Section } from './report.js';
import { writeDocs } from './write-docs.js';

const { values: flags } = readOptions({
  options: {
    quick: { type: 'boolean' },
    host: { type: 'string' },
    json: { type: 'boolean' },
    check: { type: 'boolean' },
    write: { type: 'boolean' },
  },
});

const plan = flags.quick
  ? { loop: { sliceMs: 5, rounds: 24 }, race: { lives: 3, warmUp: 2, slice: 1, rounds: 2 } }
  : { loop: { sliceMs: 10, rounds: 80 }, race: { lives: 4, warmUp: 3, slice: 2, rounds: 2 } };

const report = await measure(flags.host === undefined ? undefined : requireHost(flags.host));
console.log(flags.json ? JSON.stringify(report, undefined, 2) : formatReport(report));
if (flags.write) await writeDocs(report);
if (flags.check && !report.goals.every(isReached)) process.exitCode = 1;

async function measure(only?: HostName): Promise<Report> {
  const sections: Section[] = [];
  const goals: Goal[] = [];
  if (only === undefined) {
    const signatures = await measureSignatures(plan.loop);
    const events = await measureEvents(plan.loop);
    sections.push(signatures, events);
    goals.push(...goalsOfVerify(events));
  }
  for (const name of only === undefined ? HOST_NAMES : [only]) {
    const section = await measureHost(name, plan.race);
    sections.push(section);
    goals.push(...goalsOfHost(name, section));
  }
  return {
    node: process.versions.node,
    cpu: `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'an unknown CPU'}`,
    sections,
    goals,
  };
}

function requireHost(name: string): HostName {
  const host = HOST_NAMES.find((known) => known === name);
  if (host === undefined) throw new Error(`there is no host ${name}, but ${HOST_NAMES.join(', ')}`);
  return host;
}
