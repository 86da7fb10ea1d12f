import { defineConfig } from 'tsup';
import { build } from '../../tsup.config.base';

export default defineConfig(
  build(
    [
      'src/index.ts',
      'src/diagnose.ts',
      'src/internal.ts',
      'src/diagnosis/search.ts',
      'src/hmac.node.ts',
      'src/hmac.web.ts',
      'src/hmac.browser.ts',
    ],
    {
      // One copy of each class for all entry points.
      splitting: true,
      // Chosen by package.json's `imports` where it is installed, not where it is built; and loaded
      // only when it is needed.
      external: ['#hmac', '#diagnose'],
    },
  ),
);
