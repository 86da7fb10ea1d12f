import { Command } from 'commander';
import { runs } from '../terminal/action.js';
import { teach } from '../terminal/help.js';
import { API_ENVIRONMENT } from '../settings/settings.js';
import { addSweepOptions, SWEEP_EXITS, sweepWith, type SweepFlags } from '../sweep/command.js';

/** `paylink verify`: compares paid orders with the service, and never writes. */
export function verifyCommand(): Command {
  const command = new Command('verify')
    .summary('compare your paid orders with the service, and change nothing')
    .description(
      'Asks the service about each paid order, and lists the orders that the service does not ' +
        'call paid, or only with another amount or currency. Your module exports payments, whose ' +
        'orders have paid(). Credits nothing and never writes.',
    );
  runs<SweepFlags>(
    addSweepOptions(command),
    sweepWith({
      name: 'verify',
      run: ({ verify }, options) => verify(undefined, options),
      findings: ['notPaid', 'differs', 'noPayment'],
      printed: ['notPaid', 'differs', 'noPayment'],
    }),
  );
  return teach(command, {
    examples: [
      [
        'paylink verify --module ./payments.js --dotenv .env',
        'every order that orders.paid() lists',
      ],
      ['paylink verify --module ./payments.js --json', 'for programs: one line of JSON per run'],
    ],
    environment: API_ENVIRONMENT,
    exitCodes: [
      [0, 'the service confirms every paid order'],
      [1, 'an order differs, an order could not be read, or the run failed'],
      ...SWEEP_EXITS,
    ],
  });
}
