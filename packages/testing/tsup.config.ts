import { defineConfig } from 'tsup';
import { build } from '../../tsup.config.base';

export default defineConfig(build(['src/index.ts', 'src/adapter.ts', 'src/internal.ts']));
