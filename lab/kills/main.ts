/**
 * Kills receivers with SIGKILL at each step between `find` and the reply, on PostgreSQL, MariaDB
 * and SQLite, and prints the kills by step and the books. Exits with 1 if the books are wrong.
 *
 *     pnpm lab kills --kills 1000 [--engine SQLite] [--seed 1] [--design unconditional]
 *
 * `--write` writes the kills of each engine to the home page, if the books are right.
 */
import { ENGINES, startEngine, type EngineName } from '../../test/money/engines.js';
import { writeFigure } from '../home-figures.js';
import { readOptions } from '../options.js';
import { isRight, runKills, type Design } from './kills.js';

const { values } = readOptions({
  options: {
    kills: { type: 'string', default: '100' },
    engine: { type: 'string', multiple: true, default: [...ENGINES] },
    seed: { type: 'string', default: '1' },
    design: { type: 'string', default: 'right' },
    write: { type: 'boolean', default: false },
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
for (const name of values.engine as EngineName[]) {
  const started = performance.now();
  const engine = await startEngine(name);
  try {
    const report = await runKills({ ...plan, engine, onKill });
    for (const [step, count] of Object.entries(report.killed))
      console.log(`${String(count).padStart(8)} kills: ${step}`);
    const { orders, acknowledged, lost, doubled, halves, early } = report;
    const seconds = ((performance.now() - started) / 1_000).toFixed(0);
    console.log(
      `${name}: ${plan.kills} kills, ${orders} orders, ${acknowledged} acknowledged: ${lost} lost, ` +
        `${doubled} doubled, ${halves} halves, ${early} early (${seconds} s)`,
    );
    if (!isRight(report)) process.exitCode = 1;
  } finally {
    await engine.close();
  }
}
if (values.write && process.exitCode === undefined)
  writeFigure('kills', plan.kills.toLocaleString('en'), '0', '0');
