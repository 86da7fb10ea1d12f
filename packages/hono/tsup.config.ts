import { defineConfig } from 'tsup';
import { build } from '../../tsup.config.base';

export default defineConfig(
  build(['src/index.ts', 'src/delivery.node.ts', 'src/delivery.web.ts'], {
    // Chosen by package.json's `imports` where it is installed, not where it is built.
    external: ['#delivery'],
  }),
);
