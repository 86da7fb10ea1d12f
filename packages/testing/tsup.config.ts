import { defineConfig } from 'tsup';
import { build } from '../../tsup.config.base';

export default defineConfig(
  build(
    [
      ...['src/index.ts', 'src/adapter.ts', 'src/internal.ts'],
      // A process of its own runs the last one, which lies beside the others.
      ...['index', 'internal', 'caller'].map((name) => `src/schedules/${name}.ts`),
    ],
    { shims: true },
  ),
);
