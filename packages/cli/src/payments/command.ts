import { Command } from 'commander';
import { runs, type CommonFlags, type Run } from '../terminal/action.js';
import { EXIT } from '../terminal/failure.js';
import { teach, USAGE_EXIT } from '../terminal/help.js';
import { addServiceOptions, askService, connect, type ServiceFlags } from '../service/service.js';
import { API_ENVIRONMENT } from '../settings/settings.js';

interface Flags extends CommonFlags, ServiceFlags {}

export function paymentsCommand(): Command {
  return new Command('payments')
    .summary('read payments')
    .description('Payments of the service.')
    .addCommand(getCommand());
}

function getCommand(): Command {
  const command = new Command('get')
    .summary('read the status of a payment')
    .description(
      "Reads a payment by your order's reference and prints its status: " +
        'pending, success, failed or cancelled.',
    )
    .argument('<reference>', "the link's reference");
  addServiceOptions(command);
  runs<Flags>(command, getPayment);
  return teach(command, {
    examples: [
      ['paylink payments get order-42', 'the payment of an order'],
      ['paylink payments get order-42 --json', 'for programs'],
      ['paylink payments get -- -42', 'a reference that begins with a dash'],
    ],
    environment: API_ENVIRONMENT,
    exitCodes: [
      [0, 'read, with any status'],
      [1, 'the payment does not exist, or the service refused or did not answer'],
      USAGE_EXIT,
    ],
  });
}

async function getPayment({ flags, args: [reference = ''], output }: Run<Flags>): Promise<number> {
  const client = await connect(flags, output);
  const payment = await askService(output, client.getPayment(reference));
  const { paint } = output;
  const status =
    payment.status === 'unknown'
      ? `unknown to this program: ${payment.sentStatus}`
      : payment.status;
  output.table([
    ['Reference', payment.reference],
    ['Status', payment.status === 'success' ? paint.green(status) : paint.yellow(status)],
    ['Amount', isChosen(payment) ? `${payment.amount!} ${payment.currency}` : 'not chosen yet'],
  ]);
  output.document(payment);
  return EXIT.ok;
}

/** The service may report 0 until the customer has chosen an amount. A price is never 0. */
function isChosen({ amount }: { readonly amount?: number }): boolean {
  return amount !== undefined && amount !== 0;
}
