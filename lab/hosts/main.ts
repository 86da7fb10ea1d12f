/**
 * `pnpm lab hosts [--only a,b] [--json] [--write]`: builds each host's example with the host's own
 * tool, serves it, and attacks it. Prints `N hosts, M faults`, and exits with 1 on a fault.
 * `--write` writes the table to docs/hosts.md.
 */
import { basename } from 'node:path';
import { readOptions } from '../options.js';
import { attackHost, SECRET } from './attack.js';
import { openBooks } from './books.js';
import type { Host } from './host.js';
import { hosts } from './hosts.js';
import { exceptionRows, HEAD, rowOf, type HostReport } from './table.js';
import { buildProject, environmentOf, packedTarballs } from './project.js';
import { freePort } from '../../test/servers/starting.js';
import { ServedHost } from './serving.js';
import { verdictOf } from './verdict.js';
import { versions } from './versions.js';
import { columns } from '../columns.js';
import { writeTable } from './page.js';

const { values } = readOptions({
  options: {
    only: { type: 'string' },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const only = values.only?.split(',');
const unknown = only?.filter((id) => !hosts.some((host) => host.id === id)) ?? [];
if (unknown.length > 0) {
  console.error(
    `Unknown host ${unknown.join(', ')}. Hosts: ${hosts.map(({ id }) => id).join(', ')}.`,
  );
  process.exit(2);
}
const chosen = hosts.filter(({ id }) => only?.includes(id) ?? true);

let serving: ServedHost | undefined;
process.once(
  'SIGINT',
  () => void (serving?.stop() ?? Promise.resolve()).finally(() => process.exit(130)),
);

const tarballs = await packedTarballs(chosen);
const reports: HostReport[] = [];
for (const host of chosen) {
  const report = await reportOf(host);
  console.error(
    `${report.name} ${report.version}: ${report.tried} attacks, ${report.faults.length} ` +
      `faults (${report.seconds} s)`,
  );
  for (const fault of report.faults) console.error(`  ${fault}`);
  reports.push(report);
}
const faults = reports.reduce((sum, report) => sum + report.faults.length, 0);
if (values.json) console.log(JSON.stringify(reports, undefined, 2));
else {
  console.log(`\n${columns(HEAD, reports.map(rowOf))}\n`);
  for (const row of exceptionRows(reports)) console.log(`${row.join(' · ')}\n`);
}
if (values.write) await writeTable(reports);
// With --json, stdout holds one document.
(values.json ? console.error : console.log)(`${reports.length} hosts, ${faults} faults`);
process.exit(faults === 0 ? 0 : 1);

async function reportOf(host: Host): Promise<HostReport> {
  const started = performance.now();
  const { id, name, version, build, builtWith = toolOf(build) } = host;
  const said = { id, name, version: versions[version], builtWith };
  const seconds = (): number => Math.round((performance.now() - started) / 1_000);
  const books = await openBooks();
  try {
    const folder = await buildProject(host, tarballs);
    const port = await freePort();
    const more = { ...host.env, ORDERS_URL: books.url, PORT: String(port), HOST: '127.0.0.1' };
    const env = await environmentOf(folder, more);
    const url = new URL(host.path ?? '/webhooks/payments', `http://127.0.0.1:${port}`);
    serving = await ServedHost.start(host.serve(port), { cwd: folder, env, url });
    const tried = await attackHost({ url, secret: SECRET, books });
    const verdict = verdictOf(host, tried);
    const ended = serving.alive ? [] : [`it ended while it was attacked:\n${serving.said}`];
    return { ...said, ...verdict, faults: [...verdict.faults, ...ended], seconds: seconds() };
  } catch (error) {
    return {
      ...said,
      tried: 0,
      faults: [(error as Error).message],
      exceptions: [],
      seconds: seconds(),
    };
  } finally {
    await serving?.stop();
    serving = undefined;
    books.close();
  }
}

/** Returns the last build command beyond type checks, without its options: "vite build". */
function toolOf(build: readonly string[]): string {
  const command = build.findLast((each) => !each.startsWith('tsc')) ?? build.at(-1)!;
  const [tool = '', ...words] = command.split(' ');
  const option = words.findIndex((word) => !/^[a-z]+$/.test(word));
  return [basename(tool), ...words.slice(0, option < 0 ? undefined : option)].join(' ');
}
