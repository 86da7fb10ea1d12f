import { Command } from 'commander';
import { runs, type CommonFlags, type Run } from '../action.js';
import { isLocalHost, requireAllowedHost } from '../audit/local-host.js';
import { examine, KIND, type Check } from '../doctor/examine.js';
import { EXIT, usageFailure } from '../failure.js';
import { teach, USAGE_EXIT } from '../help.js';
import { collect, readHeaders, requireTarget, seconds, secretsOf, showUrl } from '../input.js';
import type { Output } from '../output.js';
import { text, type Printable } from '../safe-text.js';
import {
  addSecretOptions,
  requireSecret,
  SECRET_ENVIRONMENT,
  type SecretFlags,
} from '../settings.js';

interface Flags extends CommonFlags, SecretFlags {
  readonly to?: string;
  readonly header?: readonly string[];
  readonly timeout?: number;
  readonly allowHost?: readonly string[];
  readonly deliver?: string;
}

/** `paylink doctor`: finds faults between the service and a running webhook. */
export function doctorCommand(): Command {
  const command = new Command('doctor')
    .summary('check a running webhook: route, secret, parsers, proxies, reply times')
    .description(
      'Looks at a running webhook from outside: is the route there, does it take POST, is ' +
        'the secret the same, does a parser or a proxy ' +
        'change the body, how long do replies take. It sends bad signatures, and signed ' +
        `events of the kind ${KIND}, which is not ` +
        'configured anywhere: a handler named `unrecognized` sees them. No order is ' +
        'credited unless you give --deliver.',
    )
    .option('--to <url>', 'the address of the webhook')
    .option(
      '--deliver <reference>',
      'send a payment.succeeded for this order too, to this machine only: the order is credited',
    )
    .option(
      '--header <header>',
      'another header, "Name: value", for a tunnel or a gateway (can be repeated)',
      collect,
    )
    .option('--timeout <seconds>', 'how long to wait for each answer (default: 10)', seconds)
    .option(
      '--allow-host <host>',
      'a host that is not this machine and may be checked (can be repeated)',
      collect,
    );
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
        'the store too: order-42 is credited',
      ],
      [
        'paylink doctor --to https://shop.example/webhooks/payments --allow-host shop.example',
        'through the proxy in front of it',
      ],
    ],
    environment: [SECRET_ENVIRONMENT],
    exitCodes: [[0, 'every check passed'], [1, 'a check failed, or no answer came'], USAGE_EXIT],
  });
}

async function doctor({ flags, output }: Run<Flags>): Promise<number> {
  const url = requireTarget(flags.to);
  requireAllowedHost(url, flags.allowHost);
  if (flags.deliver !== undefined && !isLocalHost(url.hostname)) {
    throw usageFailure(
      '--deliver credits an order, so it only goes to this machine',
      'leave it out to check this host',
    );
  }
  const headers = readHeaders(flags.header);
  const secret = await requireSecret(flags, output);
  output.hide(...secretsOf(url, headers));
  output.line(text`Checking ${output.paint.bold(showUrl(url))}`);
  output.line(
    output.paint.dim(
      `It is sent bad signatures, and signed events of the kind ${KIND}: a handler named ` +
        '"unrecognized" sees those.',
    ),
  );
  output.line();
  const checks = await examine(
    { url, secret, headers, timeout: flags.timeout ?? 10_000 },
    flags.deliver,
  );
  output.table(checks.map((check) => row(check, output)));
  const failed = checks.filter(({ ok }) => ok === false).length;
  output.line();
  output.line(
    failed === 0
      ? output.paint.green('nothing wrong was found')
      : output.paint.red(`${failed} of ${checks.length} checks failed`),
  );
  output.document({
    url: showUrl(url),
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
