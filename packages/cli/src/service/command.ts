/** `paylink links create` and `paylink payments get`: the service's two calls. */
import { Command, Option } from 'commander';
import type { PaymentLinkRequest } from '@paylink/client';
import { createCommand, type Invocation } from '../terminal/command.js';
import { EXIT, usageFailure } from '../terminal/failure.js';
import { wholeNumber } from '../terminal/input.js';
import { connect, rethrow, SERVICE_OPTIONS, type ServiceFlags } from './connect.js';

interface LinkFlags extends ServiceFlags {
  readonly amount?: number;
  readonly amountMin?: number;
  readonly amountMax?: number;
  readonly reference: string;
  readonly description?: string;
  readonly returnUrl?: string;
  readonly cancelUrl?: string;
  readonly singleUse?: boolean;
  readonly idempotencyKey?: string;
}

const amount = wholeNumber(1, Number.MAX_SAFE_INTEGER);

export const linksCommand = (): Command =>
  new Command('links').summary('create payment links').addCommand(
    createCommand('create', {
      summary: 'create a payment link',
      description:
        "Creates a payment link and prints the payment page's address. Pass --amount, or let " +
        'the customer choose with --amount-min, --amount-max and --description. Amounts are in ' +
        'the smallest unit of the currency.',
      options: [
        new Option('--reference <reference>', "your order's reference").makeOptionMandatory(),
        new Option('--amount <n>', 'the amount')
          .argParser(amount)
          .conflicts(['amountMin', 'amountMax']),
        new Option('--amount-min <n>', "the customer's lowest amount").argParser(amount),
        new Option('--amount-max <n>', "the customer's highest amount").argParser(amount),
        new Option('--description <text>', 'the text on the payment page'),
        new Option('--return-url <url>', 'the address for the customer after paying'),
        new Option('--cancel-url <url>', 'the address for the customer after cancelling'),
        new Option('--single-use', 'the link can be paid only once'),
        new Option(
          '--idempotency-key <key>',
          'to retry a call, pass its key again (default: a new key)',
        ),
        ...SERVICE_OPTIONS,
      ],
      examples: [
        'paylink links create --reference order-42 --amount 15000 --single-use --idempotency-key order-42',
        "paylink links create --reference gift-7 --amount-min 500 --amount-max 50000 --description 'A gift'",
      ],
      run: createLink,
    }),
  );

export const paymentsCommand = (): Command =>
  new Command('payments').summary('read payments').addCommand(
    createCommand('get', {
      summary: 'read the status of a payment',
      description:
        "Reads a payment by your order's reference and prints its status: pending, success, " +
        'failed, cancelled or unknown. Exits with 0 for every status.',
      argument: ['<reference>', "the link's reference"],
      options: SERVICE_OPTIONS,
      examples: ['paylink payments get order-42', 'paylink payments get --json -- -42'],
      run: getPayment,
    }),
  );

async function createLink({ flags, output }: Invocation<LinkFlags>): Promise<number> {
  const link = linkOf(flags);
  const client = await connect(flags, output);
  const created = await client
    .createPaymentLink(link, { idempotencyKey: flags.idempotencyKey })
    .catch((error: unknown) => rethrow(error, output));
  output.line(output.paint.bold(created.url));
  output.line();
  await output.table([
    ['Reference', created.reference],
    ['Amount', showAmount(created, 'the customer chooses')],
    ['Status', created.status],
  ]);
  output.document(created);
  return EXIT.ok;
}

function linkOf({ amount, amountMin, amountMax, ...flags }: LinkFlags): PaymentLinkRequest {
  const { reference, description, returnUrl, cancelUrl, singleUse } = flags;
  const pages = { return_url: returnUrl, cancel_url: cancelUrl, single_use: singleUse };
  if (amount !== undefined) return { reference, amount, description, ...pages };
  if (amountMin === undefined || amountMax === undefined || description === undefined)
    throw usageFailure(
      'no amount',
      'pass --amount, or all three of --amount-min, --amount-max and --description',
    );
  return { reference, amount_min: amountMin, amount_max: amountMax, description, ...pages };
}

async function getPayment({ flags, argument, output }: Invocation<ServiceFlags>): Promise<number> {
  const client = await connect(flags, output);
  const payment = await client
    .getPayment(argument)
    .catch((error: unknown) => rethrow(error, output));
  const { paint } = output;
  const { status } = payment;
  await output.table([
    ['Reference', payment.reference],
    [
      'Status',
      status === 'unknown'
        ? paint.yellow(`unknown to this program: ${payment.sentStatus}`)
        : (status === 'success' ? paint.green : paint.yellow)(status),
    ],
    ['Amount', showAmount(payment, 'not chosen yet')],
  ]);
  output.document(payment);
  return EXIT.ok;
}

/** The service may report 0 until the customer has chosen an amount. A price is never 0. */
function showAmount(
  { amount, currency }: { readonly amount?: number; readonly currency: string },
  unchosen: string,
): string {
  return amount === undefined || amount === 0 ? unchosen : `${amount} ${currency}`;
}
