import { Option, type Command } from 'commander';
import { isLocalHost } from '../receiver/local-host.js';
import {
  ALLOW_HOST_OPTION,
  HEADER_OPTION,
  hideRequest,
  requireAllowedHost,
  type TargetFlags,
} from '../receiver/target.js';
import { requireValidSecret, SECRET_OPTIONS, type SecretFlags } from '../settings/settings.js';
import { TENANT_OPTION, type ShopFlags } from '../shop/with-shop.js';
import { createCommand, type Invocation } from '../terminal/command.js';
import { EXIT, usageFailure } from '../terminal/failure.js';
import { parseUrl, showUrl } from '../terminal/input.js';
import type { Output } from '../terminal/output.js';
import { text, type Printable } from '../terminal/safe-text.js';
import { examine, KIND, type Check } from './examine.js';
import { checkOrders } from './test-orders.js';

type Flags = Partial<Pick<TargetFlags, 'to'>> &
  Omit<TargetFlags, 'to'> &
  Partial<ShopFlags> &
  SecretFlags & { readonly deliver?: string; readonly yes?: boolean };

/** `paylink doctor`: finds problems between the service and a running webhook. */
export const doctorCommand = (): Command =>
  createCommand<Flags>('doctor', {
    summary: 'check a running webhook (--to), or your orders on a test database (--module)',
    description:
      'Checks a running webhook from outside: the route, the method, the secret and changes to ' +
      `the body. Sends bad signatures and signed events of the kind ${KIND}, which only a handler ` +
      'named "unrecognized" or a gate with unrecognized: \'pass\' receives. Also sends a ' +
      'payment.succeeded for an order that does not exist. Credits an order only with --deliver. ' +
      'With --module, tests your find and credit instead. The module must export orders and ' +
      'createOrder.',
    options: [
      new Option('--to <url>', 'the address of the webhook')
        .argParser(parseUrl)
        .conflicts('module'),
      new Option(
        '--deliver <reference>',
        'also send a payment.succeeded, which may credit this order',
      ),
      HEADER_OPTION,
      ALLOW_HOST_OPTION,
      new Option('--module <file>', 'your module, connected to a test database'),
      TENANT_OPTION,
      new Option('--yes', 'confirm that --module uses a test database: stores about 250 orders'),
      ...SECRET_OPTIONS,
    ],
    examples: [
      'paylink doctor --to http://localhost:3000/webhooks/payments --deliver order-42',
      'paylink doctor --to https://shop.example/webhooks/payments --allow-host shop.example',
      'paylink doctor --module ./payments.js --dotenv .env.test --yes',
    ],
    run: doctor,
  });

async function doctor({ flags, output }: Invocation<Flags>): Promise<number> {
  const { to, module } = flags;
  if (module !== undefined) {
    if (flags.yes !== true)
      throw usageFailure(
        "nothing was tested: --module stores about 250 orders in your module's database",
        'if that is a test database, add --yes',
      );
    return checkOrders({ ...flags, module }, output, (checks) =>
      conclude(checks, {}, output, TORTURE),
    );
  }
  if (to === undefined)
    throw usageFailure('no --to', 'for example, --to http://localhost:3000/webhooks/payments');
  const target = { ...flags, to };
  requireAllowedHost(target, 'if you own that server');
  if (flags.deliver !== undefined && !isLocalHost(to.hostname))
    throw usageFailure('--deliver credits an order, so it only goes to this machine');
  const secret = await requireValidSecret(flags, output);
  hideRequest(target, output);
  output.line(text`Checking ${output.paint.bold(showUrl(to))}`);
  output.line();
  const checks = await examine(target, secret, flags.deliver);
  return conclude(checks, { url: showUrl(to) }, output);
}

const TORTURE =
  'Next: run paylink torture with the same --module and --database <url>. It tries two ' +
  'deliveries in every sequence, and cuts each';

async function conclude(
  checks: readonly Check[],
  subject: object,
  output: Output,
  next = '',
): Promise<number> {
  const { paint } = output;
  await output.table(checks.map((check) => row(check, output)));
  const failed = checks.filter(({ ok }) => ok === false).length;
  output.line();
  output.line(
    failed === 0
      ? paint.green('nothing wrong was found')
      : paint.red(`${failed} of ${checks.length} checks failed`),
  );
  if (failed === 0 && next !== '') output.line(next);
  const shown = checks.map(({ ok = null, ...rest }) => ({ ...rest, ok }));
  output.document({ ...subject, ok: failed === 0, checks: shown });
  return failed === 0 ? EXIT.ok : EXIT.failed;
}

function row({ name, ok, message }: Check, { paint }: Output): Printable[] {
  const verdict = ok === undefined ? paint.dim('–') : ok ? paint.green('ok') : paint.red('FAILED');
  return [verdict, name, message];
}
