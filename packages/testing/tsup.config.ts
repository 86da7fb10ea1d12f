import { writeFile } from 'node:fs/promises';
import { defineConfig } from 'tsup';
import { build } from '../../tsup.config.base';
import { attackData } from './src/attacks/data';

export default defineConfig(
  build(
    [
      ...['src/index.ts', 'src/adapter.ts', 'src/internal.ts'],
      // A process of its own runs the last one, which lies beside the others.
      ...['index', 'internal', 'caller'].map((name) => `src/schedules/${name}.ts`),
    ],
    {
      shims: true,
      // For receivers in other languages, with the programs in judges/.
      onSuccess: () => writeFile('dist/attacks.json', JSON.stringify(attackData())),
    },
  ),
);
