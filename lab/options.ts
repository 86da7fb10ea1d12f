import { parseArgs, type ParseArgsConfig } from 'node:util';

/**
 * Reads a proof's options with `parseArgs`. A mistyped option exits with 2, because 1 means that a
 * proof failed.
 */
export function readOptions<Config extends ParseArgsConfig>(
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs<Config>(config);
  } catch (error) {
    console.error((error as Error).message);
    process.exit(2);
  }
}
