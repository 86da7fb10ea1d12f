/** Calls the merchant's functions for the checks: bounded in time, and with readable faults. */
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import type { Order } from '@paylink/payments';
import type { TestOrdersOptions } from './options.js';
import { readOrder, type NewOrder } from './order.js';

/** The notification, the return page and the schedule, which all credit. */
export const SOURCES = ['webhook', 'settle', 'reconcile'] as const;
export type Source = (typeof SOURCES)[number];

type Key = Pick<NewOrder, 'reference' | 'tenant'>;

/**
 * Checks of the suite, each under a sentence about `orders`. A check rejects with the fault in one
 * sentence, or with `NotTested`.
 */
export type Checks = Readonly<Record<string, (shop: Shop) => Promise<void>>>;

/** A running check found that this database cannot show the fault. The message says why. */
export class NotTested extends Error {}

/** Twenty calls at once need several seconds on a busy machine. */
const LIMIT = 10_000;

// Fake timers replace the globals later.
const { setTimeout, clearTimeout } = globalThis;

/** The merchant's functions as the checks call them. */
export class Shop {
  /** An order without its reference. */
  readonly sample: Omit<NewOrder, 'reference'>;
  readonly #signal = new AbortController().signal;
  #references: Promise<() => string> | undefined;

  constructor(readonly options: TestOrdersOptions) {
    this.sample = { amount: 1_500, currency: 'XOF', tenant: options.tenants?.[0] ?? null };
  }

  /** Returns an order that is not stored, under a new reference. */
  async unstored(changes?: Partial<NewOrder>): Promise<NewOrder> {
    return { ...this.sample, reference: await this.newReference(), ...changes };
  }

  /**
   * Stores an order under a new reference.
   *
   * @throws NotTested if `createOrder` refuses the changed amount
   */
  async create(changes?: Partial<NewOrder>): Promise<NewOrder> {
    const order = await this.unstored(changes);
    const reason = await this.refusal(order);
    if (reason === undefined) return order;
    if (changes !== undefined) throw new NotTested(reason);
    throw new Error(
      `createOrder could not store an order of ${order.amount} ${order.currency}: ${reason}.` +
        ' Store references as text, and amounts as bigint.',
    );
  }

  /** Returns the database's reason if the order cannot be stored. */
  async refusal(order: NewOrder): Promise<string | undefined> {
    try {
      const reply = await bounded('createOrder', async () => this.options.createOrder(order));
      return (Object(reply) as { error?: Error | null }).error?.message;
    } catch (error) {
      return messageOf(error);
    }
  }

  /** Returns a reference that no order has. */
  async newReference(): Promise<string> {
    const { reference } = this.options;
    this.#references ??=
      reference === undefined
        ? chooseReferences((it) => this.refusal({ ...this.sample, reference: it }))
        : Promise.resolve(neverTwice(reference));
    return (await this.#references)();
  }

  async find({ reference, tenant }: Key): Promise<Order | undefined> {
    const context = { tenant, signal: this.#signal };
    const found = await bounded('find', async () => this.options.orders.find(reference, context));
    return found === undefined || found === null ? undefined : readOrder(found);
  }

  /** Returns `paid` of the order. A missing order or another value is a fault. */
  async isPaid(order: Key): Promise<boolean> {
    const found = await this.find(order);
    if (found === undefined && (await this.find(await this.create())) !== undefined)
      throw new Error(
        'find finds new orders, but no longer finds one after a call of credit. Look for a' +
          " condition on unpaid rows in find, such as status = 'pending', and for a row" +
          ' that moves.',
      );
    return paidOf(found);
  }

  /** Returns the number of changed rows, or `null` if the driver does not know it. */
  async credit(order: NewOrder, source: Source = 'webhook'): Promise<number | null> {
    const { reference, amount, currency, tenant } = order;
    const context = { tenant, signal: this.#signal, source };
    const count = await bounded('credit', async () =>
      this.options.orders.credit({ reference, amount, currency }, context),
    );
    if (count === null) return null;
    const isCount = /^(number|bigint)$/.test(typeof count) && Number.isSafeInteger(Number(count));
    if (!isCount || count < 0)
      throw new Error(
        `credit returned ${inspect(count, { depth: -1 })}. It must return the number of rows that` +
          ' its write changed. Look for a missing `return` or `await`.',
      );
    return Number(count);
  }

  /**
   * Credits, and returns undefined if `credit` throws. A second call may throw: a unique payment
   * row and SERIALIZABLE both refuse it.
   */
  async tryCredit(order: NewOrder, source?: Source): Promise<number | null | undefined> {
    return this.credit(order, source).catch((error: unknown) => {
      if (isThrown(error)) return undefined;
      throw error;
    });
  }

  /** Credits different orders together, then one by one those that the database refused. */
  async creditTogether(together: readonly NewOrder[]): Promise<void> {
    const counts = await Promise.all(together.map((order) => this.tryCredit(order)));
    for (const [index, order] of together.entries())
      if (!counts[index] && !(await this.isPaid(order))) await this.tryCredit(order);
  }
}

export function paidOf(order: Order | null | undefined): boolean {
  if (order === undefined || order === null)
    throw new Error(
      'find does not find an order that createOrder has stored.' +
        ' Look for a conversion of the reference (Number, parseInt), for another database, and' +
        ' for a transaction that stays open.',
    );
  const paid: unknown = order.paid;
  if (typeof paid !== 'boolean')
    throw new Error(`paid must be true or false, but find returns ${inspect(paid)}.`);
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
/** Prefers UUIDs, which most text columns accept. Then integer columns, then ObjectIds. */
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
    `createOrder could not store an order: ${first}. If your references have a fixed format, pass` +
      ' the option `reference`, a function that returns a new reference on each call.',
  );
}

function neverTwice(reference: () => string): () => string {
  const known = new Set<string>();
  return () => {
    const next: unknown = reference();
    if (typeof next !== 'string' || next === '' || known.has(next))
      throw new Error(
        `reference returned ${inspect(next)}, but must return a new text on each call, such as a UUID.`,
      );
    known.add(next);
    return next;
  };
}

export const printCount = (count: number | null | undefined): string =>
  count === undefined ? 'threw' : `returned ${count}`;

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : inspect(error, { depth: 0 });
}
