/** The checks that each tenant has orders of its own. */
import { untestedCheck, type OrdersCheck } from './check.js';
import { expectRefusal } from './credit.js';
import { expectCredit } from './find.js';
import { SOURCES, type NewOrder, type Shop } from './shop.js';

/** UUIDs and ObjectIds, which are the same in another case. */
const HEXADECIMAL = /^[\da-f-]{24,36}$/i;

export function checkTenants(
  shop: Shop,
  tenants: readonly [string, string] | undefined,
): OrdersCheck[] {
  const title = 'another tenant neither finds nor credits an order';
  if (tenants === undefined) return [untestedCheck(title, 'needs the option tenants')];
  const [own, other] = tenants;
  return [
    {
      title,
      async run() {
        const order = await shop.create();
        await expectHidden(shop, order, [other, null]);
        for (const source of SOURCES)
          await expectRefusal(shop, order, { ...order, tenant: other }, 'tenant', source);
        await expectRefusal(shop, order, { ...order, tenant: null }, 'tenant');
        const twin = { ...order, tenant: other };
        const isStored = (await shop.refusal(twin)) === undefined;
        await expectCredit(shop, order);
        if (isStored && (await shop.find(twin))?.paid !== false)
          throw new Error(
            "Another tenant's order of the same reference is also paid, or is not found. Add the" +
              ' tenant to the conditions of the read and of the write.',
          );
      },
    },
    {
      title: 'a tenant in another spelling neither finds nor credits an order',
      async run() {
        const order = await shop.create();
        const spellings = spellingsOf(own).filter((tenant) => !tenants.includes(tenant));
        await expectHidden(shop, order, spellings);
        for (const tenant of spellings)
          await expectRefusal(shop, order, { ...order, tenant }, 'tenant');
      },
    },
    {
      title: 'no tenant gets the orders of null, or of another long name',
      async run() {
        const long = `${own}${'x'.repeat(64)}`;
        for (const [stored, asking] of [
          [null, own],
          [`${long}a`, `${long}b`],
        ] as const) {
          const order = await storedFor(shop, stored);
          if (order === undefined) continue;
          await expectHidden(shop, order, [asking]);
          await expectRefusal(shop, order, { ...order, tenant: asking }, 'tenant');
        }
      },
    },
  ];
}

function spellingsOf(tenant: string): string[] {
  const cut = [tenant.slice(0, -1), tenant.slice(0, Math.ceil(tenant.length / 2))];
  const others = [...cut, tenant.split(/\W/)[0]!, `${tenant}x`, `${tenant} `];
  const cased = [tenant.toUpperCase(), tenant.toLowerCase(), tenant.replace(/^./, upperCase)];
  if (!HEXADECIMAL.test(tenant)) others.push(...cased);
  return [...new Set(others)].filter((each) => each !== '' && each !== tenant);
}

const quote = (tenant: string | null): string => (tenant === null ? 'null' : `'${tenant}'`);
const upperCase = (letter: string): string => letter.toUpperCase();

/** Returns undefined if this shop has no such tenant. */
async function storedFor(shop: Shop, tenant: string | null): Promise<NewOrder | undefined> {
  const order = { ...(await shop.create()), reference: await shop.newReference(), tenant };
  if ((await shop.refusal(order)) !== undefined) return undefined;
  return (await shop.find(order).catch(() => undefined)) && order;
}

async function expectHidden(
  shop: Shop,
  order: NewOrder,
  tenants: readonly (string | null)[],
): Promise<void> {
  for (const tenant of tenants)
    if ((await shop.find({ ...order, tenant }).catch(() => undefined)) !== undefined)
      throw new Error(
        `find gives an order to another tenant, or to null: one of ${quote(order.tenant)} to` +
          ` ${quote(tenant)}. Add the tenant to its condition, exactly as it is given.`,
      );
}
