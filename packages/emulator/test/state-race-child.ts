/** Opens state files at the same moments as another process, and prints the files that it holds. */
import { join } from 'node:path';
import { openStateFile } from '../src/state/state-file.js';

const [folder = '', count, begin] = process.argv.slice(2);
const held: number[] = [];
for (let number = 0; number < Number(count); number++) {
  while (Date.now() < Number(begin) + number * 20);
  try {
    openStateFile(join(folder, `${number}`));
    held.push(number);
  } catch {
    // The other process has it.
  }
}
console.log(JSON.stringify(held));
