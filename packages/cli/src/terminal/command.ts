/** Builds each command from a description, runs it, and reports its error. */
import { Command, type Option } from 'commander';
import { loadDotenv } from './dotenv.js';
import { EXIT, Failure, isConfigurationError, messageOf } from './failure.js';
import { Output } from './output.js';

export interface CommonFlags {
  readonly json?: boolean;
  readonly dotenv?: string;
}

export interface Invocation<Flags> {
  readonly flags: Flags;
  /** The command's first argument. */
  readonly argument: string;
  readonly args: readonly string[];
  readonly output: Output;
}

interface Description<Flags> {
  readonly summary: string;
  readonly description: string;
  readonly argument?: readonly [usage: string, meaning: string, initial?: string];
  readonly options: readonly Option[];
  /** Complete command lines. */
  readonly examples: readonly string[];
  /**
   * Returns the exit code. It loads packages by `await import()`, because loading all of them
   * doubles the time of `paylink --help`.
   */
  readonly run: (invocation: Invocation<Flags>) => Promise<number>;
}

export function createCommand<Flags extends CommonFlags>(
  name: string,
  { summary, description, argument, options, examples, run }: Description<Flags>,
): Command {
  const command = new Command(name)
    .summary(summary)
    .description(description)
    .addHelpText('after', `\nExamples:\n${examples.map((line) => `  $ ${line}`).join('\n')}`);
  if (argument !== undefined) command.argument(...argument);
  for (const each of options) command.addOption(each);
  return (
    command
      // Not --env-file: Node 20 takes that option for itself at any position.
      .option(
        '--dotenv <path>',
        "load this whole file (default: only Paylink's variables from .env)",
      )
      .option('--json', 'print machine-readable JSON to stdout')
      .action(async () => {
        const flags = command.opts<Flags>();
        const output = new Output(flags.json === true);
        try {
          loadDotenv(flags.dotenv);
          const [given = ''] = command.processedArgs as (string | undefined)[];
          process.exitCode = await run({ flags, argument: given, args: command.args, output });
        } catch (error) {
          process.exitCode = report(error, output);
        }
      })
  );
}

/** Prints the error through the output, which redacts secrets. Returns the exit code. */
function report(error: unknown, output: Output): number {
  const isTenant = isConfigurationError(error) && error.option === 'tenant';
  const fixes = isTenant
    ? ['pass --tenant <id>, or --tenant null if you have only one merchant']
    : [];
  output.error(messageOf(error), error instanceof Failure ? error.fixes : fixes);
  if (process.env['DEBUG'] && error instanceof Error) {
    for (const line of (error.stack ?? '').split('\n')) output.note(line);
  }
  if (error instanceof Failure) return error.exitCode;
  return isConfigurationError(error) ? EXIT.usage : EXIT.failed;
}
