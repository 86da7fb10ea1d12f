/** The checks that each tenant sees only its own orders. */
import { expectRefusals, expectStillDue } from './credit.js';
import type { NewOrder } from './order.js';
import type { Checks, Shop } from './shop.js';

/** More calls than a pool has connections. */
const MANY = 10;
/** Several, because a database may refuse one of two writes. */
const ROUNDS = 3;
/** UUIDs and ObjectIds, which are the same in another case. */
const HEXADECIMAL = /^[\da-f-]{24,36}$/i;

export const OTHER_TENANT: Checks = {
  async 'another tenant neither finds nor credits an order'(shop) {
    const [own, other] = shop.options.tenants!;
    for (const [mine, theirs] of [
      [own, other],
      [other, own],
    ] as const) {
      const order = await shop.create({ tenant: mine });
      // A cache may now have it.
      await shop.isPaid(order);
      await expectHidden(shop, order, [theirs, theirs, theirs, null]);
      const twin = { ...order, tenant: theirs };
      const isStored = (await shop.refusal(twin)) === undefined;
      await expectStillDue(shop, order, 'tenant');
      if (isStored && (await shop.find(twin))?.paid !== false)
        throw new Error(
          "Another tenant's order of the same reference is also paid, or is not found. Add" +
            ' the tenant to the conditions of the read and of the write.',
        );
    }
  },
};

export const TENANTS: Checks = {
  async 'simultaneous calls for two tenants stay apart'(shop) {
    const [own, other] = shop.options.tenants!;
    const pair = async (): Promise<NewOrder[]> => [
      await shop.create(),
      await shop.create({ tenant: other }),
    ];
    const orders = await pair();
    const foreign = orders.map((order, i) => ({ ...order, tenant: i === 0 ? other : own }));
    const asked = Array.from({ length: MANY }, () => [...orders, ...foreign]).flat();
    const found = await Promise.all(asked.map((order) => shop.find(order).catch(() => undefined)));
    const isMixed = found.some((order, i) => (order !== undefined) !== orders.includes(asked[i]!));
    let mixed = 0;
    for (; mixed < ROUNDS; mixed++) {
      const due = await pair();
      const counts = await Promise.all(due.map((order) => shop.tryCredit(order)));
      if (!counts.includes(0)) break;
    }
    if (isMixed || mixed === ROUNDS)
      throw new Error(
        'Simultaneous calls for two tenants mix them up. Look for a variable outside of find' +
          ' and credit, and for a setting of a connection that the next statement does not' +
          ' use.',
      );
  },
  async 'a tenant in another spelling neither finds nor credits an order'(shop) {
    const { tenants } = shop.options;
    const spellings = spellingsOf(tenants![0]).filter((tenant) => !tenants!.includes(tenant));
    await expectHidden(shop, await shop.create(), spellings);
  },
  async 'no tenant finds the orders of null, or of another long name'(shop) {
    const [own] = shop.options.tenants!;
    const long = `${own}${'x'.repeat(64)}`;
    for (const [stored, asking] of [
      [null, own],
      [`${long}a`, `${long}b`],
    ] as const) {
      const order = await storedFor(shop, stored);
      if (order !== undefined) await expectHidden(shop, order, [asking]);
    }
  },
};

function spellingsOf(tenant: string): string[] {
  const cut = [tenant.slice(0, -1), tenant.slice(0, Math.ceil(tenant.length / 2))];
  const others = [...cut, tenant.split(/\W/)[0]!, `${tenant}x`, '%', tenant.replace(/.$/, '_')];
  // A column of numbers ignores it.
  if (!/^\d+$/.test(tenant)) others.push(`${tenant} `);
  const cased = [tenant.toUpperCase(), tenant.toLowerCase(), tenant.replace(/^./, upperCase)];
  if (!HEXADECIMAL.test(tenant)) others.push(...cased);
  return [...new Set(others)].filter((each) => each !== '' && each !== tenant);
}

const quote = (tenant: string | null): string => (tenant === null ? 'null' : `'${tenant}'`);
const upperCase = (letter: string): string => letter.toUpperCase();

/** Returns undefined if this shop has no such tenant. */
async function storedFor(shop: Shop, tenant: string | null): Promise<NewOrder | undefined> {
  const order = await shop.unstored({ tenant });
  if ((await shop.refusal(order)) !== undefined) return undefined;
  return (await shop.find(order).catch(() => undefined)) && order;
}

/** Expects that none of the tenants finds the order, and that none credits it. */
async function expectHidden(
  shop: Shop,
  order: NewOrder,
  tenants: readonly (string | null)[],
): Promise<void> {
  for (const tenant of tenants)
    if ((await shop.find({ ...order, tenant }).catch(() => undefined)) !== undefined)
      throw new Error(
        `find returns an order to another tenant, or to null: one of ${quote(order.tenant)} to` +
          ` ${quote(tenant)}. Add the tenant to its condition, exactly as it is given.`,
      );
  await expectRefusals(shop, order, 'tenant', tenants);
}
