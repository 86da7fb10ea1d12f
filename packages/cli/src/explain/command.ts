import type { Command } from 'commander';
import {
  requirePayments,
  SHOP_OPTIONS,
  tenantsOf,
  withShop,
  type ShopFlags,
} from '../shop/with-shop.js';
import { createCommand, type Invocation } from '../terminal/command.js';
import { EXIT } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import { text } from '../terminal/safe-text.js';
import { adviceFor, type Advice } from './causes.js';
import { commandsFor } from './commands.js';
import { describeOrder, describePayment, factsOf, isRange, type Facts } from './facts.js';

/** `paylink explain`: shows why an order is not credited, and the next step. */
export const explainCommand = (): Command =>
  createCommand<ShopFlags>('explain', {
    summary: 'show the cause of an uncredited order, and the next step',
    description:
      'Reads the order with your module, asks the service, and prints both, the outcome that ' +
      'Paylink would report, its causes and the next command. Credits nothing and never writes. ' +
      'Exits with 1 if you or the service must act.',
    argument: ['<reference>', "the order's reference"],
    options: SHOP_OPTIONS,
    examples: [
      'paylink explain order-42 --module ./payments.js --dotenv .env',
      'paylink explain order-42 --module ./payments.js --tenant acme --tenant globex',
    ],
    run: explain,
  });

async function explain({ flags, argument, output }: Invocation<ShopFlags>): Promise<number> {
  const tenants = tenantsOf(flags);
  return withShop(flags, output, async (module, stop) => {
    const payments = requirePayments(module, flags, 'explain');
    const all: Facts[] = [];
    for (const tenant of tenants) {
      all.push(await factsOf(payments, argument, tenant, stop));
      if (all.at(-1)!.order !== null) break;
    }
    const facts = { ...blamedOf(all), tenants: tenants.filter((each) => each != null) };
    const advice = adviceFor(facts, commandsFor(facts, flags));
    await show(facts, advice, output);
    return ['you', 'the service'].includes(advice.turn) ? EXIT.failed : EXIT.ok;
  });
}

/** The merchant that has the order, then one with a payment, then one that could not be read. */
function blamedOf(all: readonly Facts[]): Facts {
  const isRead = ({ outcome }: Facts): boolean => outcome === 'unknown_order';
  return (
    all.find(({ order }) => order !== null) ??
    all.find(({ payment }) => payment !== null) ??
    all.find((facts) => !isRead(facts)) ??
    all[0]!
  );
}

async function show(
  facts: Facts,
  { turn, causes, advice, next }: Advice,
  output: Output,
): Promise<void> {
  const { reference, tenant, order, payment, outcome } = facts;
  const { paint } = output;
  output.line(text`${paint.bold(reference)}${tenant === null ? '' : ` of ${tenant}`}`);
  await output.table([
    ['your order', describeOrder(facts)],
    ['the service', describePayment(facts)],
    ['outcome', outcome === 'credited' ? 'would be credited' : outcome],
    ['acts next', turn],
  ]);
  output.line();
  for (const { cause, proven, check } of causes) {
    output.line(text`${proven ? paint.bold('cause') : paint.yellow('possible')}  ${cause}`);
    if (check !== undefined) output.line(text`          ${paint.dim(check)}`);
  }
  output.line();
  output.line(text`${paint.bold('Next')}: ${advice}`);
  output.line(text`  ${paint.cyan(next)}`);
  const said = { outcome, turn, causes, advice, next };
  output.document({ reference, tenant, order: order && fieldsOf(order), payment, ...said });
}

/** Leaves out the fields that `find` returned beside the contract. */
function fieldsOf(order: NonNullable<Facts['order']>): object {
  const { reference, amount, currency, paid, closed } = order;
  const stored = isRange(amount) ? { min: amount.min, max: amount.max } : amount;
  return { reference, amount: stored, currency, paid, closed };
}
