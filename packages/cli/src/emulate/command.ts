import { Command } from 'commander';
import { runs, type Run } from '../terminal/action.js';
import { API_KEY_VARIABLE } from '../terminal/dotenv.js';
import { EXIT } from '../terminal/failure.js';
import { teach, USAGE_EXIT } from '../terminal/help.js';
import { collect, wholeNumber } from '../terminal/input.js';
import { untilStopped } from '../terminal/until-stopped.js';
import { KEPT_SECRETS, readKeptSecrets } from '../settings/kept-secrets.js';
import {
  addApiKeyOptions,
  addSecretOptions,
  findGivenApiKey,
  findGivenSecret,
  SECRET_ENVIRONMENT,
} from '../settings/settings.js';
import { watchDeliveries } from './delivery-log.js';
import { addresses, generated, introduce } from './introduce.js';
import { logAttempt, logRequest } from './log.js';
import { keep, start, type EmulateFlags } from './start.js';

const DEFAULT_PORT = 4010;

/** `paylink emulate`: runs the service on this machine. */
export function emulateCommand(): Command {
  const command = new Command('emulate')
    .summary('run the Payment Link Service on your machine')
    .description(
      'Runs the service on your machine: the API, ' +
        'the payment page, signed notifications, and a dashboard. Moves no money. Prints ' +
        'the lines for your .env, each API request and each notification. Reads secrets ' +
        `from the environment, from .env or from ${KEPT_SECRETS}, and saves new secrets ` +
        'there. In another terminal, paylink pay, fail and cancel act as the customer. ' +
        'Ctrl-C stops it.',
    )
    .option('--port <port>', 'the port (0: any free port)', wholeNumber(0, 65_535), DEFAULT_PORT)
    .option('--host <host>', 'the listening address (default: 127.0.0.1)')
    .option('--pay-url <url>', 'the address for browsers, if it differs')
    .option('--webhook <url>', "your server's address for notifications")
    .option(
      '--allow-host <host>',
      'also send notifications to this remote host (can be repeated)',
      collect,
    )
    .option(
      '--allow-remote',
      'allow an address that other machines reach: each of them can mark payments as paid',
    )
    .option(
      '--assume <name=value>',
      "change the emulator's choice in an open point of the contract (can be repeated)",
      collect,
    )
    .option(
      '--state <file>',
      'keep links, payments and notifications in this file, through a restart or a kill',
    );
  addSecretOptions(command);
  addApiKeyOptions(command);
  runs<EmulateFlags>(command, emulate);
  return teach(command, {
    examples: [
      [
        'paylink emulate --webhook http://localhost:3000/webhooks/payments',
        'the whole service, and notifications to your server',
      ],
      [
        'paylink emulate --assume replayedKey=refuse --assume firstRetryDelay=50',
        'tests your code against another behaviour of the service',
      ],
      ['paylink emulate --state .paylink/state', 'keeps the payments, even after a kill'],
      [
        'paylink emulate --json',
        'for programs: one JSON object per line, the first with the addresses',
      ],
    ],
    environment: [
      SECRET_ENVIRONMENT,
      [
        API_KEY_VARIABLE,
        `the API key that the emulator accepts. Default: the secrets in ${KEPT_SECRETS}`,
      ],
    ],
    exitCodes: [
      [0, 'stopped by Ctrl-C or SIGTERM'],
      [1, 'the emulator could not start: the port is taken'],
      USAGE_EXIT,
    ],
  });
}

async function emulate({ flags, output }: Run<EmulateFlags>): Promise<number> {
  const given = {
    secret: await findGivenSecret(flags, output),
    apiKey: await findGivenApiKey(flags, output),
  };
  const kept = readKeptSecrets();
  const since = new Date();
  const emulator = await start(flags, given, kept, (request) => logRequest(request, output));
  await keep(emulator, given, { kept, output });
  const stopped = untilStopped();
  if (output.isJson)
    output.record({ type: 'started', ...addresses(emulator), ...generated(emulator, given) });
  else introduce(emulator, { flags, given, output });

  const stopWatching = watchDeliveries(emulator, (attempt) => logAttempt(attempt, output), since);
  await stopped;
  stopWatching();
  await emulator.close();
  output.record({ type: 'stopped' });
  output.advise('stopped');
  return EXIT.ok;
}
