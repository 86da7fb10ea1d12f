/** A merchant's module, which separate processes load. */
import { randomInt, randomUUID } from 'node:crypto';
import type { TestOrdersOptions } from '../orders/options.js';
import { Changes } from './changes.js';
import { NotTestable, UsageError, type Database } from './database.js';
import { Caller } from './process.js';
import type { Delivered, NewOrder, Party, Recovery, Subject, Truth } from './subject.js';

export interface ModuleOptions {
  /** The merchant's module, with `orders` and, unless passed here, `createOrder` and `effects`. */
  readonly module: string;
  /** The database's address. The test credits orders, so use a test database. */
  readonly databaseUrl: string;
  /** The variable from which the module reads the address. Default `DATABASE_URL`. */
  readonly databaseVariable?: string | undefined;
  /** Stores an unpaid order. Default: the module's `createOrder`. */
  readonly createOrder?: ((order: NewOrder) => unknown) | undefined;
  /**
   * Counts other writes of the credit itself, such as receipts: 1 for each order. Default: the
   * module's `effects`.
   */
  readonly effects?: ((reference: string) => Promise<number> | number) | undefined;
  /**
   * Reads a number that each credit changes, such as the balance of the one wallet that all orders
   * pay into. Default: the module's `total`.
   */
  readonly total?: TestOrdersOptions['total'];
  /** Creates a new reference. Default: the module's `reference`, or a UUID or digits. */
  readonly reference?: (() => string) | undefined;
  /** The merchant of the test's orders, if there are several. Default `null`. */
  readonly tenant?: string | null | undefined;
}

export class ModuleSubject implements Subject {
  readonly changes = new Changes();
  alone: Truth = { paid: false, effects: undefined };
  /** Reads the orders, through a proxy that holds nothing. */
  #observer!: Caller;
  readonly #started = new Set<Caller>();
  readonly #parties: Caller[] = [];
  #spare: Promise<Caller | undefined> | undefined;
  /** True once `createOrder` has refused a UUID. */
  #hasNumbers = false;
  /** An order that is paid. Reading it shows how fast the database answers now. */
  #paidOrder!: NewOrder;

  private constructor(
    readonly options: ModuleOptions,
    readonly database: Database,
  ) {}

  /** @throws UsageError if the module or the database cannot be used */
  static async open(options: ModuleOptions, database: Database): Promise<ModuleSubject> {
    const subject = new ModuleSubject(options, database);
    try {
      subject.#observer = await subject.#start();
      subject.alone = await subject.truth(subject.#paidOrder);
      return subject;
    } catch (error) {
      await subject.close();
      throw error;
    }
  }

  get hasConnections(): boolean {
    return !this.database.isInProcess;
  }

  get hasEffects(): boolean {
    return this.options.effects !== undefined || this.#observer.exports.includes('effects');
  }

  get total(): Subject['total'] {
    const { total } = this.options;
    if (total === undefined && !this.#observer.exports.includes('total')) return undefined;
    return async (order) => {
      // It credits an order when it starts.
      await this.#spare;
      return Number(await (total?.(order.reference) ?? this.#observer.call('total', order)));
    };
  }

  async newOrder(by = this.#observer): Promise<NewOrder> {
    try {
      return await this.#store(by);
    } catch (error) {
      if (this.#hasNumbers) throw error;
      this.#hasNumbers = true;
      return this.#store(by);
    }
  }

  async truth(order: NewOrder): Promise<Truth> {
    const paid = (await this.#observer.call('find', order)) === true;
    if (!this.hasEffects) return { paid, effects: undefined };
    const counted =
      this.options.effects?.(order.reference) ?? this.#observer.call('effects', order);
    const effects = Number(await counted);
    if (Number.isNaN(effects)) throw new UsageError('effects', 'effects must return a number');
    return { paid, effects };
  }

  async questionAnswered(): Promise<void> {
    await this.#observer.call('find', this.#paidOrder, 1_000).catch(() => undefined);
  }

  async parties(deliveries: number): Promise<readonly Party[]> {
    for (let at = 0; at < deliveries; at += 1) {
      if (this.#parties[at]?.isAlive === true) continue;
      const spare = this.#spare ?? this.#start();
      // It may fail beside a try that locks the whole database, as on SQLite.
      this.#spare = this.#start().catch(() => undefined);
      this.#parties[at] = (await spare) ?? (await this.#start());
    }
    return this.#parties.slice(0, deliveries);
  }

  nameOf(party: Party): string {
    return String.fromCharCode(65 + this.#parties.indexOf(party as Caller));
  }

  recoveries(order: NewOrder, party?: Party): Recovery[] {
    // A lock of a connection that just broke may hold for a moment, or its process ends now.
    const caller = (): Caller =>
      this.#parties.find((each) => each === party && each.isAlive) ?? this.#observer;
    return [
      { name: 'the next delivery', run: async () => void (await deliver(order, caller)) },
      { name: 'reconcile', run: async () => this.#observer.call('reconcile', order) },
    ];
  }

  async close(): Promise<void> {
    await this.#spare;
    await Promise.all([...this.#started].map(async (caller) => caller.close()));
  }

  async #store(by: Caller): Promise<NewOrder> {
    const { createOrder, reference: newReference, tenant = null } = this.options;
    let reference: string = this.#hasNumbers ? String(randomInt(1e9, 2e9)) : randomUUID();
    if (newReference !== undefined) reference = newReference();
    else if (by.exports.includes('reference')) reference = String(await by.call('reference'));
    const order = { reference, amount: 1_500, currency: 'XOF', tenant };
    try {
      await (createOrder === undefined ? by.call('createOrder', order) : createOrder(order));
      return order;
    } catch (error) {
      throw new Error(`createOrder stored no order: ${(error as Error).message}`, { cause: error });
    }
  }

  /** Starts a process that was told of a payment, so that its pools are open. */
  async #start(): Promise<Caller> {
    const { databaseVariable = 'DATABASE_URL', createOrder } = this.options;
    const caller = await Caller.start(this.options, this.database, this.changes);
    this.#started.add(caller);
    if (createOrder === undefined && !caller.exports.includes('createOrder'))
      throw new UsageError(
        'module',
        'The module exports no createOrder, which stores an unpaid order',
      );
    const { proxy } = caller;
    try {
      const order = await this.newOrder(caller);
      this.#paidOrder ??= order;
      // Opens the pools. A delivery that waits for them too long asks the service no more.
      await caller.call('find', order).catch(() => undefined);
      // Another process may start beside it: a SERIALIZABLE credit of either may then fail.
      const { isAcknowledged, code } = await deliver(order, () => caller);
      if (!proxy.wasUsed && this.database.isInProcess)
        throw new NotTestable('SQLite without better-sqlite3, libsql or node:sqlite');
      if (!proxy.wasUsed)
        throw new Error(
          `The module did not connect to the address in ${databaseVariable}: name its variable`,
        );
      if (!isAcknowledged && code !== 'not_credited')
        throw new Error(
          `A single delivery of a new order was not acknowledged (${code}): run testOrders first`,
        );
      return caller;
    } catch (error) {
      if (error instanceof NotTestable) throw error;
      throw new UsageError('databaseUrl', [...proxy.notes, (error as Error).message].join(' '));
    }
  }
}

/** Delivers until one delivery is acknowledged, at most three times, as the service does. */
async function deliver(order: NewOrder, caller: () => Caller): Promise<Delivered> {
  let delivered = await caller().deliver(order);
  for (let left = 2; left > 0 && !delivered.isAcknowledged; left -= 1)
    delivered = await caller().deliver(order);
  return delivered;
}
