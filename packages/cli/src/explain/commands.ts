import type { ShopFlags } from '../shop/with-shop.js';
import { lastWord, NPX, optionsFor, quoteForShell } from '../terminal/shell.js';
import { isRange, type Facts } from './facts.js';

export type Commands = Readonly<ReturnType<typeof commandsFor>>;

/** Returns the commands for the advice, quoted for a shell. */
export function commandsFor({ reference, tenant, order }: Facts, flags: ShopFlags) {
  const word = quoteForShell(reference);
  const name = lastWord(reference);
  const dotenv = optionsFor({ dotenv: flags.dotenv });
  const module = optionsFor({ module: flags.module }) + dotenv;
  const of = optionsFor({ tenant: flags.tenant && String(tenant) });
  const tenants = (flags.tenant ?? []).map((each) => optionsFor({ tenant: each })).join('');
  const another = tenant === null ? '' : `${of} --tenant <another>`;
  const link = `--reference=${word} ${amountFlags(order)} --single-use --idempotency-key=${word}`;
  const paylink = (line: string): string => `${NPX} ${line}`;
  return {
    explain: paylink(`explain${module}${of} ${name}`),
    explainOtherTenant: paylink(`explain${module}${of} --tenant <another> ${name}`),
    explainOtherReference: paylink(`explain${module}${tenants} <the right reference>`),
    reconcile: paylink(`reconcile${module}${of} ${name}`),
    doctor: paylink(`doctor --to <your webhook>${dotenv}`),
    testOrders: paylink(
      `doctor${optionsFor({ module: flags.module })}${another} --dotenv <of a test database> --yes`,
    ),
    createLink: paylink(`links create${dotenv} ${link}`),
    readPayment: paylink(`payments get${dotenv} ${name}`),
  };
}

function amountFlags(order: Facts['order']): string {
  const amount: unknown = order?.amount;
  return isRange(amount)
    ? `--amount-min ${amount.min} --amount-max ${amount.max} --description <text>`
    : `--amount ${String(amount).replace(/\.0+$/, '')}`;
}
