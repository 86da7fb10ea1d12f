import { Command } from 'commander';
import { runs, type Run } from '../terminal/action.js';
import { isLocalHost, requireAllowedHost } from '../receiver/local-host.js';
import { examine, KIND, type Check } from './examine.js';
import { checkOrders, type TestOrdersFlags } from './test-orders.js';
import { EXIT, usageFailure } from '../terminal/failure.js';
import { teach, USAGE_EXIT } from '../terminal/help.js';
import {
  collect,
  readHeaders,
  requireTarget,
  seconds,
  secretsOf,
  showUrl,
} from '../terminal/input.js';
import type { Output } from '../terminal/output.js';
import { text, type Printable } from '../terminal/safe-text.js';
import {
  addSecretOptions,
  requireSecret,
  SECRET_ENVIRONMENT,
  type SecretFlags,
} from '../settings/settings.js';

interface Flags extends TestOrdersFlags, SecretFlags {
  readonly to?: string;
  readonly header?: readonly string[];
  readonly timeout?: number;
  readonly allowHost?: readonly string[];
  readonly deliver?: string;
}

/** `paylink doctor`: finds faults between the service and a running webhook. */
export function doctorCommand(): Command {
  const command = new Command('doctor')
    .summary('check a running webhook (--to), or your orders on a test database (--module)')
    .description(
      'Checks a running webhook from outside: route, method, secret, changed bodies, ' +
        `reply times. Sends bad signatures, and signed events of the kind ${KIND}, which ` +
        'only a handler named "unrecognized" gets. Credits an order only with --deliver. With ' +
        '--module, tests find and credit of your orders instead: the module exports orders and ' +
        'createOrder.',
    )
    .option('--to <url>', 'the address of the webhook')
    .option(
      '--deliver <reference>',
      'also send a payment.succeeded for this order, which credits it, only to this machine',
    )
    .option(
      '--header <header>',
      'add a header, "Name: value", for a tunnel or a gateway (can be repeated)',
      collect,
    )
    .option('--timeout <seconds>', 'time for each answer (default: 10)', seconds)
    .option('--allow-host <host>', 'allow the check of this remote host (can be repeated)', collect)
    .option('--module <file>', 'your module, on a database for tests')
    .option('--tenant <tenant>', 'one of two merchants for --module (repeat it)', collect)
    .option('--yes', 'with --module: write test orders without asking');
  addSecretOptions(command);
  runs<Flags>(command, doctor);
  return teach(command, {
    examples: [
      [
        'paylink doctor --to http://localhost:3000/webhooks/payments --dotenv .env',
        'with the secret of your own .env',
      ],
      [
        'paylink doctor --to http://localhost:3000/webhooks/payments --deliver order-42',
        'also checks the store, and credits order-42',
      ],
      [
        'paylink doctor --to https://shop.example/webhooks/payments --allow-host shop.example',
        'through the proxy in front of it',
      ],
      [
        'paylink doctor --module ./payments.js --dotenv .env.test',
        'tests find and credit on a database for tests',
      ],
    ],
    environment: [SECRET_ENVIRONMENT],
    exitCodes: [
      [0, 'every check passed'],
      [1, 'a check failed, or the server did not answer'],
      USAGE_EXIT,
    ],
  });
}

async function doctor({ flags, output }: Run<Flags>): Promise<number> {
  if (flags.module !== undefined) {
    if (flags.to !== undefined) throw usageFailure('--to and --module cannot both be given');
    return checkOrders(flags, output, (checks) => conclude(checks, {}, output));
  }
  const url = requireTarget(flags.to);
  requireAllowedHost(url, flags.allowHost);
  if (flags.deliver !== undefined && !isLocalHost(url.hostname)) {
    throw usageFailure(
      '--deliver credits an order, so it only goes to this machine',
      'omit it to check this host',
    );
  }
  const headers = readHeaders(flags.header);
  const secret = await requireSecret(flags, output);
  output.hide(...secretsOf(url, headers));
  output.line(text`Checking ${output.paint.bold(showUrl(url))}`);
  output.line(
    output.paint.dim(
      `doctor sends bad signatures, and signed events of the kind ${KIND}, which a ` +
        'handler named "unrecognized" gets.',
    ),
  );
  output.line();
  const checks = await examine(
    { url, secret, headers, timeout: flags.timeout ?? 10_000 },
    flags.deliver,
  );
  return conclude(checks, { url: showUrl(url) }, output);
}

function conclude(checks: readonly Check[], subject: object, output: Output): number {
  output.table(checks.map((check) => row(check, output)));
  const failed = checks.filter(({ ok }) => ok === false).length;
  output.line();
  output.line(
    failed === 0
      ? output.paint.green('nothing wrong was found')
      : output.paint.red(`${failed} of ${checks.length} checks failed`),
  );
  output.document({
    ...subject,
    ok: failed === 0,
    checks: checks.map(({ ok, ...rest }) => ({ ...rest, ok: ok ?? null })),
  });
  return failed === 0 ? EXIT.ok : EXIT.failed;
}

function row({ name, ok, message }: Check, { paint }: Output): Printable[] {
  return [
    ok === undefined ? paint.dim('–') : ok ? paint.green('ok') : paint.red('FAILED'),
    name,
    message,
  ];
}
