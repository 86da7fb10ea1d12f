import { Command } from 'commander';
import { auditCommand } from './commands/audit.js';
import { diagnoseCommand } from './commands/diagnose.js';
import { doctorCommand } from './commands/doctor.js';
import { emulateCommand } from './commands/emulate.js';
import { initCommand } from './commands/init.js';
import { listenCommand } from './commands/listen.js';
import { inboxCommand } from './commands/inbox.js';
import { linksCommand } from './commands/links.js';
import { cancelCommand, failCommand, payCommand } from './commands/pay.js';
import { paymentsCommand } from './commands/payments.js';
import { proveCommand } from './commands/prove.js';
import { reconcileCommand } from './commands/reconcile.js';
import { signCommand } from './commands/sign.js';
import { triggerCommand } from './commands/trigger.js';
import { createPaint, wantsColor } from './paint.js';
import { escapeText } from './safe-text.js';
import { readVersion } from './version.js';

// In the order of the help, which follows a first integration.
const COMMANDS = [
  initCommand,
  emulateCommand,
  payCommand,
  failCommand,
  cancelCommand,
  triggerCommand,
  auditCommand,
  doctorCommand,
  diagnoseCommand,
  signCommand,
  listenCommand,
  linksCommand,
  paymentsCommand,
  inboxCommand,
  reconcileCommand,
  proveCommand,
];

export function createProgram(): Command {
  const program = new Command('paylink')
    .description(
      'Build and test an integration of the Payment Link Service: on your own machine, ' +
        'without an account.',
    )
    .version(readVersion(), '-V, --version', 'print the version')
    .helpCommand('help [command]', 'print the help of a command')
    .addHelpText('after', START);
  for (const command of COMMANDS.map((make) => make())) program.addCommand(command);
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
    .showHelpAfterError(`paylink${pathOf(command)} --help has examples`)
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
