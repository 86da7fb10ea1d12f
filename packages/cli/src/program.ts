import { styleText } from 'node:util';
import completion from '@bomb.sh/tab/commander';
import { Command, CommanderError } from 'commander';
import { auditCommand } from './audit/command.js';
import { diagnoseCommand } from './diagnose/command.js';
import { doctorCommand } from './doctor/command.js';
import { emulateCommand } from './emulate/command.js';
import { explainCommand } from './explain/command.js';
import { initCommand } from './init/command.js';
import { cancelCommand, failCommand, payCommand } from './pay/command.js';
import { linksCommand, paymentsCommand } from './service/command.js';
import { reconcileCommand, verifyCommand } from './sweep/command.js';
import { EXIT } from './terminal/failure.js';
import { escapeText } from './terminal/safe-text.js';
import { VERSION } from './terminal/version.js';
import { tortureCommand } from './torture/command.js';
import { triggerCommand } from './trigger/command.js';

// In the order of the help. A first integration goes from the top to the bottom.
const GROUPS = {
  'Project:': [initCommand],
  'Run the service:': [
    emulateCommand,
    payCommand,
    failCommand,
    cancelCommand,
    linksCommand,
    paymentsCommand,
  ],
  'Check a receiver:': [triggerCommand, doctorCommand, auditCommand, diagnoseCommand],
  'Money:': [tortureCommand, explainCommand, reconcileCommand, verifyCommand],
};

const AFTER = `
Start here:
  $ paylink emulate --webhook http://localhost:3000/webhooks/payments
  # runs the service on your machine and prints the lines for your .env

Every command has examples: paylink <command> --help

Exit codes:
  0    done, nothing found
  1    a finding, a rejection, no response, or an incomplete reconcile or verify
  2    the command line, a setting or the module is wrong
  130  stopped early by Ctrl-C, or by SIGTERM during a long command
`;

/** Runs a command line, and sets the exit code of this process. */
export async function run(args: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Commander has already printed the fault or the help.
    process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
}

function createProgram(): Command {
  const program = new Command('paylink')
    .description(
      'Build and test a Payment Link Service integration on your own machine, without an account.',
    )
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .addHelpText('after', AFTER)
    .showHelpAfterError('Add --help for the options and examples.')
    .exitOverride()
    .configureHelp({ styleTitle: (title) => styleText('bold', title, { validateStream: false }) })
    .configureOutput({
      outputError: (message, write) =>
        write(`${withoutValue(message.trimEnd()).split('\n').map(escapeText).join('\n')}\n`),
    });
  for (const [heading, commands] of Object.entries(GROUPS)) {
    for (const create of commands) program.addCommand(create().helpGroup(heading));
  }
  program
    .command('help [command]')
    .description('print the help of a command')
    .action((name?: string) => {
      const found = program.commands.find((each) => each.name() === name);
      // An unknown command has its own error, with a suggestion.
      if (found === undefined && name !== undefined) program.parse([name], { from: 'user' });
      else (found ?? program).help();
    });
  for (const command of program.commands.flatMap((each) => [each, ...each.commands]))
    command.copyInheritedSettings(program);
  completion(program);
  program.commands.at(-1)!.description('print the completion script for bash, zsh or fish');
  return program;
}

/** Removes the values that a message quotes: `--sercet=value`, or the argument of an option. */
function withoutValue(message: string): string {
  return message
    .replace(/(unknown option '--?[^=']*)=[^]*?'(?=\n|$)/, "$1'")
    .replace(/ argument '[^]*' is invalid\./, ' is invalid.');
}
