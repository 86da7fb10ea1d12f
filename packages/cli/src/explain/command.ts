import { Command } from 'commander';
import { runs, type Run } from '../terminal/action.js';
import { EXIT } from '../terminal/failure.js';
import { teach, USAGE_EXIT } from '../terminal/help.js';
import type { Output } from '../terminal/output.js';
import { text } from '../terminal/safe-text.js';
import { NPX, quoteForShell } from '../terminal/shell.js';
import { API_ENVIRONMENT } from '../settings/settings.js';
import { addShopOptions, tenantsOf, withShop, type ShopFlags } from '../shop/with-shop.js';
import { adviceFor, type Advice, type Commands } from './causes.js';
import { describeOrder, describePayment, factsOf, isRange, type Facts } from './facts.js';

/** `paylink explain`: says why an order is not credited, and what to do. */
export function explainCommand(): Command {
  const command = new Command('explain')
    .summary('say why an order is not credited, and what to do')
    .description(
      'Reads the order with your module, asks the service, and prints both, the outcome that ' +
        'Paylink would give, its causes, and the next command. Credits nothing and never writes. ' +
        'If the module also exports orders, the command checks a few more causes.',
    )
    .argument('<reference>', "the order's reference");
  runs<ShopFlags>(addShopOptions(command), explain);
  return teach(command, {
    examples: [
      ['paylink explain order-42 --module ./payments.js --dotenv .env', 'one order'],
      [
        'paylink explain order-42 --module ./payments.js --tenant acme --tenant globex',
        'finds the merchant whose order this is',
      ],
      ['paylink explain order-42 --module ./payments.js --json', 'for programs'],
    ],
    environment: API_ENVIRONMENT,
    exitCodes: [
      [0, 'nobody has to act, or the customer or the schedule acts next'],
      [1, 'you have to act, or the service cannot be asked'],
      USAGE_EXIT,
    ],
  });
}

async function explain(run: Run<ShopFlags>): Promise<number> {
  const { flags, args, output } = run;
  const reference = args[0] ?? '';
  const tenants = tenantsOf(flags);
  return withShop(flags, output, async (shop, stop) => {
    let facts: Facts | undefined;
    for (const tenant of tenants) {
      const next = await factsOf(shop, reference, tenant, stop);
      // The first merchant counts if no merchant has the order.
      if (facts === undefined || next.outcome !== 'unknown_order') facts = next;
      if (next.outcome !== 'unknown_order') break;
    }
    const advice = adviceFor(facts!, commandsFor(facts!, flags));
    show(facts!, advice, output);
    return ['you', 'the service'].includes(advice.turn) ? EXIT.failed : EXIT.ok;
  });
}

function commandsFor({ reference, tenant, order }: Facts, flags: ShopFlags): Commands {
  const dotenv = flags.dotenv === undefined ? '' : ` --dotenv ${quoteForShell(flags.dotenv)}`;
  const of = tenant === null ? '' : ` --tenant ${quoteForShell(tenant)}`;
  const module = ` --module ${quoteForShell(flags.module!)}${dotenv}`;
  const name = reference.startsWith('-')
    ? `-- ${quoteForShell(reference)}`
    : quoteForShell(reference);
  const explaining = `${NPX} explain${module}`;
  return {
    explain: `${explaining}${of} ${name}`,
    explainOther: `${explaining}${of} --tenant <another> ${name}`,
    reconcile: `${NPX} reconcile${module}${of}`,
    verify: `${NPX} verify${module}${of}`,
    doctor: `${NPX} doctor --to <your webhook>${dotenv}`,
    testOrders: `${NPX} doctor${module}${of}`,
    createLink: `${NPX} links create${dotenv} --reference=${quoteForShell(reference)}${amountFlags(order)} --single-use --idempotency-key=${quoteForShell(reference)}`,
    readPayment: `${NPX} payments get${dotenv} ${name}`,
  };
}

function amountFlags(order: Facts['order']): string {
  const amount: unknown = order?.amount;
  return isRange(amount)
    ? ` --amount-min ${amount.min} --amount-max ${amount.max} --description <text>`
    : ` --amount ${String(amount)}`;
}

function show(facts: Facts, { turn, causes, advice, next }: Advice, output: Output): void {
  const { reference, tenant, order, payment, outcome } = facts;
  const { paint } = output;
  const of = tenant === null ? '' : ` of ${tenant}`;
  output.line(text`${paint.bold(reference)}${of}`);
  output.table([
    ['your order', describeOrder(order)],
    ['the service', describePayment(payment)],
    ['outcome', outcome],
    ['turn', turn],
  ]);
  output.line();
  for (const { cause, proven, check } of causes) {
    output.line(text`${proven ? paint.bold('cause') : paint.yellow('possible')}  ${cause}`);
    if (check !== undefined) output.line(text`          ${paint.dim(check)}`);
  }
  output.line();
  output.line(text`${paint.bold('Next')}: ${advice}`);
  output.line(text`  ${paint.cyan(next)}`);
  output.document({
    reference,
    tenant,
    order: order === null ? null : { ...plain(order) },
    payment,
    outcome,
    turn,
    causes,
    advice,
    next,
  });
}

/** Leaves out the fields that `find` returned beside the contract, and writes a bigint as text. */
function plain({ reference, amount, currency, paid, closed }: Facts['order'] & object): object {
  const text = (value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
  const { min, max } = isRange(amount) ? amount : {};
  const stored = isRange(amount) ? { min: text(min), max: text(max) } : text(amount);
  return { reference, amount: stored, currency, paid, closed };
}
