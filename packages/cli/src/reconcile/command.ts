import { Command } from 'commander';
import { runs } from '../terminal/action.js';
import { teach } from '../terminal/help.js';
import { API_ENVIRONMENT } from '../settings/settings.js';
import { addSweepOptions, SWEEP_EXITS, sweepWith, type SweepFlags } from '../sweep/command.js';

/** `paylink reconcile`: credits paid orders that no notification and no return page credited. */
export function reconcileCommand(): Command {
  const command = new Command('reconcile')
    .summary('credit paid orders whose notification never came, once or on a schedule')
    .description(
      'Asks the service about each unpaid order, and credits the paid ones. Your module exports ' +
        'payments, whose orders have unpaid(). An order without a payment at the service is no ' +
        'error: its customer never came that far. Prints one line per run.',
    );
  runs<SweepFlags>(
    addSweepOptions(command),
    sweepWith({
      name: 'reconcile',
      run: ({ reconcile }, options) => reconcile(undefined, options),
      findings: [],
      printed: ['credited', 'noPayment'],
    }),
  );
  return teach(command, {
    examples: [
      ['paylink reconcile --module ./payments.js --dotenv .env', 'one run, for cron'],
      [
        'paylink reconcile --module ./payments.js --every 5m --state cursor.json --health ' +
          'health.json',
        'its own schedule, for systemd or a container',
      ],
      ['paylink reconcile --module ./payments.js --tenant acme --tenant globex', 'two merchants'],
    ],
    environment: API_ENVIRONMENT,
    exitCodes: [
      [0, 'every order was read, or SIGTERM ended --every'],
      [1, 'an order could not be read or credited, or the run failed'],
      ...SWEEP_EXITS,
    ],
  });
}
