import { parseArgs, type ParseArgsConfig } from 'node:util';

/**
 * Reads the options of a proof, as `parseArgs` gives them. A mistyped option ends the process with
 * 2, since 1 says that a proof fell short.
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
