/**
 * Checks the model of the money with Spin: the right design has no error, and each broken design
 * has one. Prints Spin's counts, and the way to each fault.
 *
 *     pnpm lab model [--faults 2] [--liveness]
 *
 * `--faults` is the number of crashes and other faults in one history, 1 by default. `--liveness`
 * also checks that everything paid is credited in the end.
 */
import { readOptions } from '../options.js';
import { BROKEN, check } from './spin.js';

const { values } = readOptions({
  options: {
    faults: { type: 'string', default: '1' },
    liveness: { type: 'boolean', default: false },
  },
});
const faults = Number(values.faults);

let wrong = 0;
const say = (isRight: boolean, what: string, lines: readonly string[]): void => {
  if (!isRight) wrong += 1;
  console.log(`${isRight ? 'ok   ' : 'WRONG'} ${what}`);
  for (const line of lines) console.log(`        ${line.trim()}`);
};

const right = check({ faults });
say(right.errors === 0, `the right design has no error, ${faults} faults`, right.lines);
if (values.liveness) {
  const live = check({ faults, liveness: true });
  say(live.errors === 0, 'the right design credits what was paid in the end', live.lines);
}
for (const [design, { what, faults: needed }] of Object.entries(BROKEN)) {
  const { errors, lines, steps } = check({ faults: needed, design });
  say(errors > 0, `found: the design that ${what}`, [...lines, ...steps]);
}
console.log(`${Object.keys(BROKEN).length} broken designs, ${wrong} wrong results`);
process.exitCode = wrong === 0 ? 0 : 1;
