/** Calls the merchant's functions for the checks: bounded in time, and with readable faults. */
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
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
  readonly reference?: (() => string) | undefined;
  readonly tenants?: readonly [string, string] | undefined;
}

type Key = Pick<NewOrder, 'reference' | 'tenant'>;

export interface Shop {
  /** An order but for its reference. */
  readonly sample: Omit<NewOrder, 'reference'>;
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
  find(order: Key): Promise<Order | undefined>;
  /** Returns `paid` of the order. A missing order or another value is a fault. */
  isPaid(order: Key): Promise<boolean>;
  /** Returns the number of changed rows, or `null` if the driver does not know it. */
  credit(order: NewOrder, source?: Source): Promise<number | null>;
  /**
   * Credits, and returns undefined if `credit` throws. A call that comes second may throw: a unique
   * row of the payment and SERIALIZABLE both refuse it so.
   */
  tryCredit(order: NewOrder, source?: Source): Promise<number | null | undefined>;
  /** Credits different orders at once, and again alone if the database refused that. */
  creditTogether(orders: readonly NewOrder[]): Promise<void>;
}

/** Below the 5 seconds after which vitest and jest end a test without a reason. */
const LIMIT = 4_000;

// Fake timers replace the globals later.
const { setTimeout, clearTimeout } = globalThis;

export function openShop({ orders, createOrder, reference: given, tenants }: ShopOptions): Shop {
  const sample = { amount: 1_500, currency: 'XOF', tenant: tenants?.[0] ?? null };
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
    references ??=
      given === undefined
        ? chooseReferences((it) => refusal({ ...sample, reference: it }))
        : Promise.resolve(neverTwice(given));
    return (await references)();
  };
  const find: Shop['find'] = async (order) => {
    const context = { tenant: order.tenant, signal };
    const found = await bounded('find', async () => orders.find(order.reference, context));
    return found === undefined || found === null ? undefined : readOrder(found);
  };
  const isPaid: Shop['isPaid'] = async (order) => paidOf(await find(order));
  const credit: Shop['credit'] = async (order, source = 'webhook') => {
    const { reference, amount, currency } = order;
    const context = { tenant: order.tenant, signal, source };
    const count = await bounded('credit', async () =>
      orders.credit({ reference, amount, currency }, context),
    );
    if (count === null) return null;
    const isCount = /^(number|bigint)$/.test(typeof count) && Number.isSafeInteger(Number(count));
    if (!isCount || count < 0)
      throw new Error(
        `credit returned ${inspect(count, { depth: -1 })}. It must return the number of rows that` +
          ' its write changed. Look for a missing `return` or `await`.',
      );
    return Number(count);
  };
  const tryCredit: Shop['tryCredit'] = (order, source) =>
    credit(order, source).catch((error: unknown) => {
      if (isThrown(error)) return undefined;
      throw error;
    });
  return {
    sample,
    refusal,
    newReference,
    find,
    isPaid,
    credit,
    tryCredit,
    async create(changes) {
      const reference = await newReference();
      const order = { ...sample, reference, ...changes };
      const reason = await refusal(order);
      if (reason !== undefined && changes !== undefined) throw new NotTested(reason);
      if (reason !== undefined)
        throw new Error(
          `createOrder could not store an order of ${order.amount} ${order.currency}: ${reason}.` +
            ' Store references as text, and amounts as bigint.',
        );
      return order;
    },
    async creditTogether(together) {
      await Promise.all(together.map((order) => tryCredit(order)));
      for (const order of together) if (!(await isPaid(order))) await tryCredit(order);
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

/** A UUID whose first letter is for bystanders that differ in its case or accent. */
const uuid = (): string => `a${randomUUID().slice(1)}`;
/** Prefers UUIDs, which every text column takes. Then integer columns, then ObjectIds. */
const FORMS: readonly (() => string)[] = [
  uuid,
  () => String(randomInt(1_000_000_000, 2_000_000_000)),
  () => randomBytes(12).toString('hex'),
];

async function chooseReferences(
  refusal: (reference: string) => Promise<string | undefined>,
): Promise<() => string> {
  let first: string | undefined;
  for (const form of FORMS) {
    // Two, because MySQL without strict mode stores each of them as 0.
    const reason = (await refusal(form())) ?? (await refusal(form()));
    if (reason === undefined) return form;
    first ??= reason;
  }
  throw new Error(
    `createOrder could not store an order: ${first}. If your references have a form, pass the` +
      ' option `reference`, a function that gives a new reference at each call.',
  );
}

function neverTwice(reference: () => string): () => string {
  const known = new Set<string>();
  return () => {
    const next: unknown = reference();
    if (typeof next !== 'string' || next === '' || known.has(next))
      throw new Error(
        `reference gave ${inspect(next)}, and must give a new text at each call, such as a UUID.`,
      );
    known.add(next);
    return next;
  };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : inspect(error, { depth: 0 });
}
