/** The checks that each tenant sees only its own orders. */
import { untestedCheck, type OrdersCheck } from './check.js';
import { expectRefusal, expectStillDue } from './credit.js';
import type { NewOrder } from './order.js';
import { SOURCES, type Shop } from './shop.js';

/** More calls than a pool has connections. */
const MANY = 10;
/** Several, because a database may refuse one of two writes. */
const ROUNDS = 3;
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
        for (const [mine, theirs] of [
          [own, other],
          [other, own],
        ] as const) {
          const order = await shop.create({ tenant: mine });
          // A cache may now have it.
          await shop.isPaid(order);
          await expectHidden(shop, order, [theirs, null]);
          for (const source of SOURCES)
            await expectRefusal(shop, order, { ...order, tenant: theirs }, 'tenant', source);
          await expectRefusal(shop, order, { ...order, tenant: null }, 'tenant');
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
    },
    {
      title: 'simultaneous calls for two tenants stay apart',
      async run() {
        const pair = async (): Promise<NewOrder[]> => [
          await shop.create(),
          await shop.create({ tenant: other }),
        ];
        const orders = await pair();
        const foreign = orders.map((order, i) => ({ ...order, tenant: tenants[1 - i]! }));
        const asked = Array.from({ length: MANY }, () => [...orders, ...foreign]).flat();
        const found = await Promise.all(
          asked.map((order) => shop.find(order).catch(() => undefined)),
        );
        const isMixed = found.some(
          (order, i) => (order !== undefined) !== orders.includes(asked[i]!),
        );
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
      title: 'no tenant finds the orders of null, or of another long name',
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
        `find returns an order to another tenant, or to null: one of ${quote(order.tenant)} to` +
          ` ${quote(tenant)}. Add the tenant to its condition, exactly as it is given.`,
      );
}
