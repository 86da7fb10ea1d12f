import { defineConfig } from 'tsup';
import { build } from '../../tsup.config.base';
import { embedFiles } from './embed-files';

// A command is run and never imported: no types and no second format. A command's chunk, and the
// packages that it needs, are loaded when it runs.
export default defineConfig(
  build(['src/main.ts'], {
    format: ['esm'],
    dts: false,
    splitting: true,
    banner: { js: '#!/usr/bin/env node' },
    onSuccess: () => embedFiles('dist'),
  }),
);
