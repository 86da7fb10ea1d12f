import { defineConfig } from 'tsup';
import { build } from '../../tsup.config.base';

export default defineConfig(
  build(
    [
      'src/index.ts',
      'src/diagnose.ts',
      'src/diagnosis/automatic.ts',
      'src/hmac.node.ts',
      'src/hmac.web.ts',
      'src/hmac.browser.ts',
    ],
    {
      // Chosen by package.json's `imports` where it is installed, not where it is built; and loaded
      // only when it is needed.
      external: ['#hmac', '#diagnose'],
    },
  ),
);
