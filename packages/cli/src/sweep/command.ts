/** `paylink reconcile` and `paylink verify`: one run over the orders, which keeps no state. */
import { Option, type Command } from 'commander';
import type { Payments } from '@paylink/payments';
import {
  requirePayments,
  SHOP_OPTIONS,
  tenantsOf,
  withShop,
  type ShopFlags,
} from '../shop/with-shop.js';
import { createCommand, type Invocation } from '../terminal/command.js';
import { EXIT, isConfigurationError, usageFailure, type Failure } from '../terminal/failure.js';
import { durationOption, wholeNumber } from '../terminal/input.js';
import { NPX, optionsFor } from '../terminal/shell.js';
import { runOnce, type Result, type SweepName } from './run.js';
import { showReport } from './show.js';

interface Flags extends ShopFlags {
  readonly cursor?: string;
  readonly timeLimit: number;
  readonly concurrency: number;
}

const OPTIONS = [
  ...SHOP_OPTIONS,
  new Option('--cursor <cursor>', 'continue a run that could not ask about every order'),
  durationOption('--time-limit <time>', 'do not start an order after this time', '10m'),
  new Option('--concurrency <n>', 'the number of concurrent orders')
    .argParser(wholeNumber(1, 100))
    .default(4),
];

/** `paylink reconcile`: credits paid orders that no notification and no return page credited. */
export const reconcileCommand = (): Command =>
  createCommand<Flags>('reconcile', {
    summary: 'credit paid orders whose notification never arrived',
    description:
      'Asks the service about each unpaid order and credits the paid ones. Your module exports ' +
      'payments, whose orders include unpaid(). Without unpaid(), pass the references. An order ' +
      'without a payment at the service is not an error: most likely, its link was never ' +
      'created. Run it on a schedule, for example with cron.',
    argument: ['[references...]', 'the orders (default: orders.unpaid())'],
    options: OPTIONS,
    examples: [
      'paylink reconcile --module ./payments.js --dotenv .env',
      'paylink reconcile --module ./payments.js order-42',
    ],
    run: sweepWith('reconcile'),
  });

/** `paylink verify`: compares paid orders with the service, and never writes. */
export const verifyCommand = (): Command =>
  createCommand<Flags>('verify', {
    summary: 'compare your paid orders with the service, and change nothing',
    description:
      'Asks the service about each paid order. Lists the orders whose payment the service does ' +
      'not confirm, or confirms with a different amount or currency. Your module exports ' +
      'payments, whose orders include paid(). Without paid(), pass the references. Credits ' +
      'nothing and never writes.',
    argument: ['[references...]', 'the orders (default: orders.paid())'],
    options: OPTIONS,
    examples: [
      'paylink verify --module ./payments.js --dotenv .env',
      'paylink verify --module ./payments.js order-42 order-43',
    ],
    run: sweepWith('verify'),
  });

function sweepWith(name: SweepName): (invocation: Invocation<Flags>) => Promise<number> {
  return async ({ flags, args, output }) => {
    const { timeLimit, concurrency, cursor } = flags;
    const tenants = tenantsOf(flags);
    if (cursor !== undefined && tenants.length > 1)
      throw usageFailure('--cursor belongs to one merchant: pass one --tenant');
    const references = args.length === 0 ? undefined : args;
    const sweepAll = async (payments: Payments, stop: AbortSignal): Promise<number> => {
      const results: Result[] = [];
      for (const tenant of tenants) {
        const report = await runOnce(name, payments, references, {
          ...{ tenant, cursor, timeLimit, concurrency, signal: stop },
          onProgress: ({ ended, credited }) =>
            output.progress(`${ended} orders read, ${credited} credited`),
        }).catch((error: unknown) => {
          throw isConfigurationError(error) && error.option === 'references'
            ? withoutList(name, flags)
            : error;
        });
        output.record(report);
        if (!output.isJson) showReport(report, name, flags, output);
        results.push(report.result);
        if (stop.aborted) break;
      }
      const isCutShort = results.includes('stopped') || results.length < tenants.length;
      if (isCutShort) return EXIT.interrupted;
      return results.every((result) => result === 'done') ? EXIT.ok : EXIT.failed;
    };
    return withShop(flags, output, (shop, stop) =>
      sweepAll(requirePayments(shop, flags, name), stop),
    );
  };
}

function withoutList(name: SweepName, { module, dotenv }: Flags): Failure {
  const list = name === 'reconcile' ? 'unpaid()' : 'paid()';
  const options = optionsFor({ module, dotenv });
  return usageFailure(
    `the orders in ${module} have no function ${list}: pass the references, or add ${list}`,
    `${NPX} ${name}${options} <reference> <another>`,
  );
}
