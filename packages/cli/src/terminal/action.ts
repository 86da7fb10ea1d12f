import type { Command } from 'commander';
import { EXIT, Failure, isConfigurationError } from './failure.js';
import { Output } from './output.js';
import { loadDotenv } from './dotenv.js';

export interface CommonFlags {
  readonly json?: boolean;
  readonly dotenv?: string;
}

export interface Run<Flags> {
  readonly flags: Flags;
  readonly args: readonly (string | undefined)[];
  readonly output: Output;
}

/**
 * Adds the common options to a command and runs it with a matching output. The returned number is
 * the exit code.
 */
export function runs<Flags extends CommonFlags>(
  command: Command,
  work: (run: Run<Flags>) => Promise<number>,
): Command {
  return (
    command
      // Not --env-file: Node 20 takes that option for itself at any position, and loads the whole
      // file.
      .option(
        '--dotenv <path>',
        'load the missing variables below from a .env file (default: .env if present)',
      )
      .option('--json', 'JSON on stdout, for programs')
      .action(async () => {
        const flags = command.opts<Flags>();
        const output = new Output(flags.json === true);
        try {
          await loadDotenv(flags.dotenv);
          process.exitCode = await work({
            flags,
            args: command.processedArgs as (string | undefined)[],
            output,
          });
        } catch (error) {
          process.exitCode = report(error, output);
        }
      })
  );
}

/** Prints the error through the output, which redacts secrets. Returns the exit code. */
function report(error: unknown, output: Output): number {
  if (process.env['DEBUG'] && error instanceof Error) {
    for (const line of (error.stack ?? '').split('\n')) output.note(line);
  }
  if (error instanceof Failure) {
    output.error(error.message, error.fixes);
    return error.exitCode;
  }
  if (isConfigurationError(error)) {
    output.error(error.message);
    return EXIT.usage;
  }
  output.error(error instanceof Error ? error.message : String(error), [
    'set DEBUG=1 in the environment to see the stack trace',
  ]);
  return EXIT.failed;
}
