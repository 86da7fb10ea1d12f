/** Calls the merchant's functions for the checks: bounded in time, and with readable faults. */
import { randomInt, randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import type { Order, Orders } from '@paylink/payments';
import { NotTested } from './check.js';
import { readOrder } from './order.js';

/** An order that the suite asks the merchant to store. */
export interface NewOrder {
  readonly reference: string;
  /** In the smallest unit of the currency. */
  readonly amount: number;
  readonly currency: string;
  readonly tenant: string | null;
}

/** The notification, the return page and the schedule, which all credit. */
export const SOURCES = ['webhook', 'settle', 'reconcile'] as const;
export type Source = (typeof SOURCES)[number];

export interface ShopOptions {
  readonly orders: Orders;
  readonly createOrder: (order: NewOrder) => unknown;
  readonly tenants?: readonly [string, string] | undefined;
}

export interface Shop {
  /**
   * Stores an order under a new reference.
   *
   * @throws NotTested if `createOrder` refuses the changed amount
   */
  create(changes?: Partial<NewOrder>): Promise<NewOrder>;
  /** Returns the database's reason if the order cannot be stored. */
  refusal(order: NewOrder): Promise<string | undefined>;
  /** Returns a reference that no order has. */
  newReference(): Promise<string>;
  find(order: Pick<NewOrder, 'reference' | 'tenant'>): Promise<Order | undefined>;
  /** Returns `paid` of the order. A missing order or another value is a fault. */
  isPaid(order: Pick<NewOrder, 'reference' | 'tenant'>): Promise<boolean>;
  /** Returns the number of changed rows, or `null` if the driver does not know it. */
  credit(order: NewOrder, source?: Source): Promise<number | null>;
}

/** Below the 5 seconds after which vitest and jest end a test without a reason. */
const LIMIT = 4_000;

// Fake timers replace the globals later.
const { setTimeout, clearTimeout } = globalThis;

export function openShop({ orders, createOrder, tenants }: ShopOptions): Shop {
  const tenant = tenants?.[0] ?? null;
  const signal = new AbortController().signal;

  const refusal: Shop['refusal'] = async (order) => {
    try {
      const reply = await bounded('createOrder', async () => createOrder(order));
      return (Object(reply) as { error?: Error | null }).error?.message;
    } catch (error) {
      return messageOf(error);
    }
  };
  let references: Promise<() => string> | undefined;
  const newReference: Shop['newReference'] = async () => {
    references ??= chooseReferences((reference) =>
      refusal({ reference, amount: 1_500, currency: 'XOF', tenant }),
    );
    return (await references)();
  };
  const find: Shop['find'] = async (order) => {
    const context = { tenant: order.tenant, signal };
    const found = await bounded('find', async () => orders.find(order.reference, context));
    return found === undefined || found === null ? undefined : readOrder(found);
  };
  return {
    refusal,
    newReference,
    find,
    async create(changes) {
      const reference = await newReference();
      const order = { reference, amount: 1_500, currency: 'XOF', tenant, ...changes };
      const reason = await refusal(order);
      if (reason !== undefined && changes?.amount !== undefined) throw new NotTested(reason);
      if (reason !== undefined)
        throw new Error(
          `createOrder could not store an order of ${order.amount} ${order.currency}: ${reason}.` +
            ' Store references as text, and amounts as bigint.',
        );
      return order;
    },
    async isPaid(order) {
      return paidOf(await find(order));
    },
    async credit({ reference, amount, currency, tenant }, source = 'webhook') {
      const context = { tenant, signal, source };
      const count = await bounded('credit', async () =>
        orders.credit({ reference, amount, currency }, context),
      );
      if (count === null) return null;
      if (!Number.isSafeInteger(Number(count)) || !/^(number|bigint)$/.test(typeof count))
        throw new Error(
          `credit returned ${inspect(count, { depth: -1 })}. It must return the number of rows that` +
            ' its write changed. Look for a missing `return` or `await`.',
        );
      return Number(count);
    },
  };
}

/** Returns `paid` of a found order. */
export function paidOf(order: Order | null | undefined): boolean {
  if (order === undefined || order === null)
    throw new Error(
      'find does not find an order that createOrder has stored.' +
        ' Look for a conversion of the reference (Number, parseInt), and for another database.',
    );
  const paid: unknown = order.paid;
  if (typeof paid !== 'boolean')
    throw new Error(`paid must be true or false, and find gives ${inspect(paid)}.`);
  return paid;
}

/** Runs merchant code. Names the function if the code throws or hangs. */
export async function bounded<Value>(name: string, run: () => Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const hint = 'Look for a transaction without COMMIT or ROLLBACK, and for a pool that is full';
      reject(new Error(`${name} did not settle within ${LIMIT / 1_000} s. ${hint}.`));
    }, LIMIT);
  });
  try {
    return await Promise.race([
      run().catch((error: unknown) => {
        throw new Error(`${name} threw: ${messageOf(error)}`, { cause: error });
      }),
      late,
    ]);
  } finally {
    clearTimeout(timer);
  }
}

/** True if the merchant's function threw, and did not hang or return a wrong value. */
export function isThrown(error: unknown): boolean {
  return error instanceof Error && error.cause !== undefined;
}

/** Prefers UUIDs, which every text column takes. Integer columns get digits. */
async function chooseReferences(
  refusal: (reference: string) => Promise<string | undefined>,
): Promise<() => string> {
  // The first letter is for bystanders that differ in its case or accent.
  const uuid = (): string => `a${randomUUID().slice(1)}`;
  const digits = (): string => String(randomInt(1_000_000_000, 2_000_000_000));
  // Two, because MySQL without strict mode stores each of them as 0.
  const reason = (await refusal(uuid())) ?? (await refusal(uuid()));
  if (reason === undefined) return uuid;
  if ((await refusal(digits())) === undefined) return digits;
  throw new Error(`createOrder could not store an order: ${reason}`);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : inspect(error, { depth: 0 });
}
