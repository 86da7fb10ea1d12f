import { parseArgs } from 'node:util';

/**
 * The options of a command that proves something, as `parseArgs` gives them. A mistyped one ends the command with 2, since 1 says that
 * a proof fell short.
 */
export function readOptions(config) {
  try {
    // pnpm hands its own `--` on.
    return parseArgs({
      args: process.argv.slice(2).filter((argument) => argument !== '--'),
      ...config,
    });
  } catch (error) {
    console.error(error.message);
    process.exit(2);
  }
}
