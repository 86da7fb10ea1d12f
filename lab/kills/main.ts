/**
 * Kills receivers with SIGKILL at each step between `find` and the reply, on PostgreSQL and on
 * SQLite, and prints the kills by step and the books. Exits with 1 if the books are wrong.
 *
 *     pnpm lab kills --kills 1000 [--engine sqlite] [--seed 1] [--design unconditional]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readOptions } from '../options.js';
import { startPostgres } from '../../test/servers/postgres.js';
import type { Design, Engine } from './databases.js';
import { isRight, runKills } from './kills.js';

const { values } = readOptions({
  options: {
    kills: { type: 'string', default: '100' },
    engine: { type: 'string', multiple: true, default: ['postgres', 'sqlite'] },
    seed: { type: 'string', default: '1' },
    design: { type: 'string', default: 'right' },
  },
});
const plan = {
  kills: Number(values.kills),
  seed: Number(values.seed),
  design: values.design as Design,
};

const onKill = (planned: number): void => {
  if (planned % 100 === 0) console.error(`${planned} of ${plan.kills} kills`);
};
for (const engine of values.engine as Engine[]) {
  const started = performance.now();
  const folder = await mkdtemp(join(tmpdir(), 'paylink-kills-'));
  const server = engine === 'postgres' ? await startPostgres({ fsync: 'off' }) : undefined;
  try {
    const place = server?.url ?? join(folder, 'shop.db');
    const report = await runKills({ ...plan, engine, place, onKill });
    for (const [step, count] of Object.entries(report.killed))
      console.log(`${String(count).padStart(8)} kills: ${step}`);
    const { orders, acknowledged, lost, doubled, halves, early } = report;
    const seconds = ((performance.now() - started) / 1_000).toFixed(0);
    console.log(
      `${engine}: ${plan.kills} kills, ${orders} orders, ${acknowledged} acknowledged: ${lost} lost, ` +
        `${doubled} doubled, ${halves} halves, ${early} early (${seconds} s)`,
    );
    if (!isRight(report)) process.exitCode = 1;
  } finally {
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  }
}
