/**
 * Finds the fault of each broken design in every run, tells the same story each time, and accepts
 * the right designs, also beside loops that take the processor.
 */
import { spawn } from 'node:child_process';
import { BROKEN, isOnBoth, RIGHT } from '../../test/schedules/designs.js';
import { openMariaDb, openPostgres } from '../../test/schedules/engines.js';
import { explore, removeBundle, shopAt } from '../../test/schedules/explore.js';
import { readOptions } from '../options.js';

const { values } = readOptions({
  options: {
    runs: { type: 'string', default: '3' },
    busy: { type: 'string', default: '0' },
    only: { type: 'string', default: '' },
    broken: { type: 'boolean', default: false },
  },
});
const BUSY = 'const { ppid } = process; while (process.ppid === ppid);';
const loops = Array.from({ length: Number(values.busy) }, () =>
  spawn(process.execPath, ['-e', BUSY], { stdio: 'ignore' }),
);
const ENGINES = { PostgreSQL: await openPostgres(), MariaDB: await openMariaDb() };
let isRight = true;
for (const [name, { url }] of Object.entries(ENGINES)) {
  const options = { module: shopAt('sql'), databaseUrl: url };
  for (const design of [...Object.keys(BROKEN), ...(values.broken ? [] : RIGHT)]) {
    if (name === 'MariaDB' && !isOnBoth(design)) continue;
    if (!design.includes(values.only)) continue;
    const [only, sentence] = BROKEN[design as keyof typeof BROKEN] ?? [];
    const stories = new Set<string>();
    let [right, limited] = [0, 0];
    const started = performance.now();
    for (let run = 0; run < Number(values.runs); run += 1) {
      const report = await explore(design, { ...options, only });
      const { faults, stories: told, orders, cuts, notTested } = report;
      limited += Number(notTested.some((part) => part.endsWith('limit')));
      const isFound = faults.length === 1 && (sentence?.test(faults[0]!) ?? false);
      right += Number(sentence === undefined ? faults.length === 0 : isFound);
      stories.add(sentence === undefined ? `${orders} orders, ${cuts} cuts` : told.join('\n'));
    }
    const seconds = ((performance.now() - started) / 1_000 / Number(values.runs)).toFixed(1);
    const isSame = stories.size === 1;
    isRight &&= right === Number(values.runs) && isSame;
    const verdict = sentence === undefined ? 'accepted' : 'found';
    const same = isSame ? 'one story' : `${stories.size} stories:\n${[...stories].join('\n\n')}`;
    const counts = `${right} of ${values.runs}, ${limited} ended by a limit`;
    console.log(`${name}  ${design}: ${verdict} in ${counts}, ${same}, ${seconds} s`);
  }
}
for (const loop of loops) loop.kill('SIGKILL');
await removeBundle();
for (const engine of Object.values(ENGINES)) await engine.close();
process.exitCode = isRight ? 0 : 1;
