import type { parseArgs, ParseArgsConfig } from 'node:util';

export function readOptions<Config extends ParseArgsConfig>(
  config: Config,
): ReturnType<typeof parseArgs<Config>>;
