import { defineConfig } from 'tsup';
import { build } from '../../tsup.config.base';
import { embedFiles } from './embed-files';

// A command is run and never imported: one file, with no types and no second format.
export default defineConfig(
  build(['src/main.ts'], {
    format: ['esm'],
    dts: false,
    banner: { js: '#!/usr/bin/env node' },
    onSuccess: () => embedFiles('dist'),
  }),
);
