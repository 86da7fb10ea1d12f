import { Command } from 'commander';
import type { PaymentLink, PaymentLinkRequest } from '@paylink/client';
import { runs, type CommonFlags, type Run } from '../terminal/action.js';
import { EXIT, usageFailure } from '../terminal/failure.js';
import { teach, USAGE_EXIT } from '../terminal/help.js';
import { wholeNumber } from '../terminal/input.js';
import type { Output } from '../terminal/output.js';
import { addServiceOptions, askService, connect, type ServiceFlags } from '../service/service.js';
import { API_ENVIRONMENT } from '../settings/settings.js';

interface Flags extends CommonFlags, ServiceFlags {
  readonly amount?: number;
  readonly amountMin?: number;
  readonly amountMax?: number;
  readonly reference?: string;
  readonly description?: string;
  readonly returnUrl?: string;
  readonly cancelUrl?: string;
  readonly singleUse?: boolean;
  readonly idempotencyKey?: string;
}

export function linksCommand(): Command {
  return new Command('links')
    .summary('create payment links')
    .description('Manages payment links.')
    .addCommand(createCommand());
}

const amount = wholeNumber(1, Number.MAX_SAFE_INTEGER);

function createCommand(): Command {
  const command = new Command('create')
    .summary('create a payment link')
    .description(
      "Creates a payment link and prints the payment page's address. Give --amount, or " +
        'let the customer choose with --amount-min, --amount-max and --description. Amounts ' +
        'are in the smallest unit of ' +
        'the currency.',
    )
    .option('--reference <reference>', "your order's reference")
    .option('--amount <n>', 'the amount', amount)
    .option('--amount-min <n>', "the customer's lowest amount", amount)
    .option('--amount-max <n>', "the customer's highest amount", amount)
    .option('--description <text>', 'the text on the payment page')
    .option('--return-url <url>', 'the address for the customer after paying')
    .option('--cancel-url <url>', 'the address for the customer after cancelling')
    .option('--single-use', 'the link can be paid once: one reference, one payment')
    .option(
      '--idempotency-key <key>',
      "repeat a call's key to retry it without a second link (default: a new key)",
    );
  addServiceOptions(command);
  runs<Flags>(command, createLink);
  return teach(command, {
    examples: [
      [
        'paylink links create --reference order-42 --amount 15000 --single-use ' +
          '--idempotency-key order-42',
        'a fixed amount',
      ],
      [
        'paylink links create --reference gift-7 --amount-min 500 --amount-max 50000 ' +
          `--description 'A gift'`,
        'the customer chooses the amount',
      ],
      [
        'paylink links create --reference order-42 --amount 15000 --dotenv .env --json',
        'with the key of your own .env, for programs',
      ],
    ],
    environment: API_ENVIRONMENT,
    exitCodes: [[0, 'created'], [1, 'the service refused, or did not answer'], USAGE_EXIT],
  });
}

async function createLink({ flags, output }: Run<Flags>): Promise<number> {
  const link = readLink(flags);
  const client = await connect(flags, output);
  const { idempotencyKey } = flags;
  const created = await askService(output, client.createPaymentLink(link, { idempotencyKey }));
  show(created, output);
  return EXIT.ok;
}

function readLink(flags: Flags): PaymentLinkRequest {
  const { reference, description } = flags;
  if (reference === undefined) throw usageFailure("no --reference: give your order's reference");
  const common = {
    reference,
    return_url: flags.returnUrl,
    cancel_url: flags.cancelUrl,
    single_use: flags.singleUse,
  };
  const { amount, amountMin, amountMax } = flags;
  const isFree = amountMin !== undefined || amountMax !== undefined;
  if (amount !== undefined && isFree)
    throw usageFailure('--amount is a fixed amount: omit --amount-min and --amount-max');
  if (amount !== undefined) return { ...common, amount, description };
  if (!isFree)
    throw usageFailure(
      'no amount',
      'give --amount, or --amount-min and --amount-max if the customer chooses',
    );
  if (amountMin === undefined || amountMax === undefined || description === undefined) {
    throw usageFailure(
      'a free amount needs all three of --amount-min, --amount-max and --description',
    );
  }
  return { ...common, amount_min: amountMin, amount_max: amountMax, description };
}

function show(link: PaymentLink, output: Output): void {
  const { paint } = output;
  output.line(paint.bold(link.url));
  output.line();
  output.table([
    ['Reference', link.reference],
    [
      'Amount',
      link.amount === undefined ? 'the customer chooses' : `${link.amount} ${link.currency}`,
    ],
    ['Status', link.status],
  ]);
  output.document(link);
}
