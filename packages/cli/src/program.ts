import { Command } from 'commander';
import { auditCommand } from './audit/command.js';
import { diagnoseCommand } from './diagnose/command.js';
import { doctorCommand } from './doctor/command.js';
import { emulateCommand } from './emulate/command.js';
import { explainCommand } from './explain/command.js';
import { initCommand } from './init/command.js';
import { listenCommand } from './listen/command.js';
import { linksCommand } from './links/command.js';
import { cancelCommand, failCommand, payCommand } from './pay/command.js';
import { paymentsCommand } from './payments/command.js';
import { reconcileCommand } from './reconcile/command.js';
import { signCommand } from './sign/command.js';
import { triggerCommand } from './trigger/command.js';
import { verifyCommand } from './verify/command.js';
import { createPaint, wantsColor } from './terminal/paint.js';
import { escapeText } from './terminal/safe-text.js';
import { VERSION } from './terminal/version.js';

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
  'Check a receiver:': [
    triggerCommand,
    doctorCommand,
    auditCommand,
    listenCommand,
    diagnoseCommand,
    signCommand,
  ],
  'Money:': [explainCommand, reconcileCommand, verifyCommand],
};

export function createProgram(): Command {
  const program = new Command('paylink')
    .description(
      'Build and test an integration of the Payment Link Service: on your own machine, ' +
        'without an account.',
    )
    .version(VERSION, '-V, --version', 'print the version')
    .helpCommand('help [command]', 'print the help of a command')
    .addHelpText('after', START);
  for (const [heading, commands] of Object.entries(GROUPS)) {
    for (const make of commands) program.addCommand(make().helpGroup(heading));
  }
  for (const command of withChildren(program)) configure(command);
  return program;
}

const START = `
Start here:
  $ paylink emulate --webhook http://localhost:3000/webhooks/payments
  # runs the service on your machine, and prints the lines for your .env

  $ paylink trigger payment.succeeded --to http://localhost:3000/webhooks/payments --reference order-42
  # one signed notification to your server

  $ paylink audit --to http://localhost:3000/webhooks/payments
  # attacks your server with forged, replayed and broken notifications, in any language

Every command has examples: paylink <command> --help

Exit codes:
  0  done, and nothing found
  1  a finding, a refusal, or no answer
  2  the command line or a setting is wrong, and nothing was sent
`;

function withChildren(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withChildren)];
}

function configure(command: Command): void {
  command
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    .showHelpAfterError(
      command.parent === null || command.commands.length === 0
        ? `paylink${pathOf(command)} --help has examples`
        : `paylink${pathOf(command)} --help lists the commands`,
    )
    .configureOutput({
      getOutHasColors: () => wantsColor(process.stdout),
      getErrHasColors: () => wantsColor(process.stderr),
      outputError: (message, write) =>
        write(`${withoutValue(message.trimEnd()).split('\n').map(escapeText).join('\n')}\n`),
    });
  const heading = createPaint(true).bold;
  command.configureHelp({ styleTitle: (title) => heading(title).value });
}

/** Removes the value from a message that quotes a mistyped `--sercet=value`. */
function withoutValue(message: string): string {
  return message.replace(/(unknown option '--?[^=']*)=[^]*?'(?=\n|$)/, "$1'");
}

function pathOf(command: Command): string {
  return command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`;
}
