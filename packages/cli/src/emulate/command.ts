import { Option, type Command } from 'commander';
import { KEPT_SECRETS } from '../settings/kept-secrets.js';
import {
  API_KEY_OPTIONS,
  findApiKey,
  findSecret,
  SECRET_OPTIONS,
  validateSecret,
} from '../settings/settings.js';
import { createCommand, type Invocation } from '../terminal/command.js';
import { EXIT } from '../terminal/failure.js';
import { collect, collectField, parseUrl, wholeNumber } from '../terminal/input.js';
import { untilStopped } from '../terminal/until-stopped.js';
import { introduce } from './introduce.js';
import { start, type EmulateFlags } from './start.js';

/** `paylink emulate`: runs the service on this machine. */
export const emulateCommand = (): Command =>
  createCommand<EmulateFlags>('emulate', {
    summary: 'run the Payment Link Service on your machine',
    description:
      'Runs the service on your machine: the API, the payment page, signed notifications and a ' +
      'dashboard. No money moves. Prints the lines for your .env, each API request and each ' +
      'notification. Reads secrets from the environment, from .env or from ' +
      `${KEPT_SECRETS}, and saves new secrets there. In another terminal, paylink pay, fail and ` +
      'cancel act as the customer. Ctrl-C stops it.',
    options: [
      new Option('--port <port>', 'the port (0: any free port)')
        .argParser(wholeNumber(0, 65_535))
        .default(4010),
      new Option('--host <host>', 'the listening address (default: 127.0.0.1)'),
      new Option('--pay-url <url>', 'the address in the browser, if different'),
      new Option('--webhook <url>', "your server's address for notifications").argParser(parseUrl),
      new Option(
        '--allow-host <host>',
        'also send notifications to this remote host (can be repeated)',
      ).argParser(collect),
      new Option(
        '--allow-remote',
        'allow an address that other machines can reach: any of them can mark payments as paid',
      ),
      new Option(
        '--assume <name=value>',
        'change an assumption about a point that the contract leaves open (can be repeated)',
      ).argParser(collectField),
      ...SECRET_OPTIONS,
      ...API_KEY_OPTIONS,
    ],
    examples: [
      'paylink emulate --webhook http://localhost:3000/webhooks/payments',
      'paylink emulate --assume replayedKey=refuse --assume firstRetryDelay=50',
    ],
    run: emulate,
  });

async function emulate({ flags, output }: Invocation<EmulateFlags>): Promise<number> {
  const secret = await findSecret(flags, output);
  if (secret !== undefined) await validateSecret(secret);
  const given = { secret, apiKey: await findApiKey(flags, output) };
  const emulator = await start(flags, given, output);
  const stopped = untilStopped();
  const { baseUrl, payUrl, dashboardUrl, apiKey, webhookSecret } = emulator;
  output.record({
    ...{ type: 'started', baseUrl, payUrl, dashboardUrl },
    // Never the user's own secrets: the new ones open only this emulator.
    apiKey: given.apiKey === undefined ? apiKey : undefined,
    webhookSecret: given.secret === undefined ? webhookSecret : undefined,
  });
  await introduce(emulator, { flags, given, output });
  await stopped;
  await emulator.close();
  output.record({ type: 'stopped' });
  return EXIT.ok;
}
