/** The checks that a reference is a parameter of the query, never part of its text. */
import { expectOneOrder } from './bystanders.js';
import type { NewOrder } from './order.js';
import { messageOf, type Checks, type Shop } from './shop.js';

const ENDINGS: Readonly<Record<string, string>> = {
  'a quote': "'",
  'a backslash': '\\',
  'a condition in SQL': "' OR '1'='1",
  'a comment in SQL': "' -- ",
};
const PARAMETER =
  'The reference becomes part of the SQL: pass it as a parameter ($1, ?), never within the text.';

export const INJECTION: Checks = Object.fromEntries(
  Object.entries(ENDINGS).map(([name, ending]) => [
    `a reference that ends in ${name} finds and credits nothing`,
    (shop: Shop) => expectNothingFor(shop, name, ending),
  ]),
);

async function expectNothingFor(shop: Shop, name: string, ending: string): Promise<void> {
  const order = await shop.create();
  const crafted = { ...order, reference: `${order.reference}${ending}` };
  const plain = { ...order, reference: `${order.reference}z` };
  const isText = await takesText(shop);
  const call = async <Value>(act: (order: NewOrder) => Promise<Value>) =>
    act(crafted).catch(async (error: unknown) => {
      // A column of numbers or UUIDs refuses it, and some refuse all unknown ones.
      const isRefused = await act(plain).then(
        () => false,
        () => true,
      );
      if (!isText || isRefused) return undefined;
      throw new Error(`With ${name} in the reference, ${messageOf(error)}. ${PARAMETER}`);
    });
  const found = await call((it) => shop.find(it));
  if (found !== undefined && (await shop.find(plain).catch(() => undefined)) === undefined)
    throw new Error(`find returns an order for a reference that ends in ${name}. ${PARAMETER}`);
  await call((it) => shop.credit(it));
  if (!(await shop.isPaid(order))) return;
  await expectOneOrder(shop);
  throw new Error(`credit pays an order for a reference that ends in ${name}. ${PARAMETER}`);
}

async function takesText(shop: Shop): Promise<boolean> {
  const order = await shop.unstored();
  const reference = order.reference.replace('-', 'z');
  return reference.includes('z') && (await shop.refusal({ ...order, reference })) === undefined;
}
