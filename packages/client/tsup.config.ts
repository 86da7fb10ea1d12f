import { defineConfig } from 'tsup';
import { build } from '../../tsup.config.base';

export default defineConfig(build(['src/index.ts']));
