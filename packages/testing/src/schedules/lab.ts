/** The processes of one exploration, its orders, and their state in the database. */
import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { NewOrder } from './caller-contract.js';
import { Changes } from './changes.js';
import { readDatabase, UsageError, type Database } from './database.js';
import { Caller, type Source } from './process.js';
import { Proxy } from './proxy.js';
import type { Line } from './story.js';

export interface LabOptions {
  /** The merchant's module: `orders`, and if not given here, `createOrder` and `effects`. */
  readonly module: string;
  /** The database's address. Its orders are credited, so use a database for tests. */
  readonly databaseUrl: string;
  /** The variable from which the module reads the address. Default `DATABASE_URL`. */
  readonly databaseVariable?: string | undefined;
  /** Stores an unpaid order. Default: the module's `createOrder`. */
  readonly createOrder?: ((order: NewOrder) => unknown) | undefined;
  /** Counts further writes of a credit, such as receipts. Default: the module's `effects`. */
  readonly effects?: ((reference: string) => Promise<number> | number) | undefined;
  /** Makes a new reference. Default: a UUID, or digits if `createOrder` refuses UUIDs. */
  readonly reference?: (() => string) | undefined;
}

/** The state of an order in the database. */
export interface Truth {
  readonly paid: boolean;
  /** Undefined if nothing counts them. */
  readonly effects: number | undefined;
}

export function tell({ paid, effects }: Truth): Line {
  const further = effects === undefined ? '' : `, ${effects} effects`;
  const text = `the database says: ${paid ? 'paid' : 'unpaid'}${further}`;
  return { who: ' ', text, notes: [] };
}

/** Milliseconds for a server to answer a new connection. */
const REACHED = 5_000;

export class Lab {
  #spare: Promise<Caller> | undefined;
  readonly #callers = new Set<Caller>();
  #isDigits = false;
  /** An order that is paid. Reading it shows how fast the database answers now. */
  #paidOrder!: NewOrder;

  private constructor(
    readonly options: LabOptions,
    readonly database: Database,
    readonly changes: Changes,
    /** A process on the database itself. */
    readonly observer: Caller,
  ) {}

  /** @throws UsageError, or NotTestable */
  static async open(options: LabOptions): Promise<Lab> {
    const database = readDatabase(options.databaseUrl);
    await reach(database);
    const changes = new Changes();
    const observer = await Caller.start(sourceOf(options), { changes, url: database.url });
    const lab = new Lab(options, database, changes, observer);
    try {
      if (options.createOrder === undefined && !observer.exports!.includes('createOrder'))
        throw new UsageError(
          'module',
          'The module exports no createOrder, which stores an unpaid order',
        );
      lab.#paidOrder = await lab.newOrder();
      await observer.deliver(lab.#paidOrder);
      return lab;
    } catch (error) {
      await observer.close();
      throw error;
    }
  }

  get hasEffects(): boolean {
    return this.options.effects !== undefined || this.observer.exports!.includes('effects');
  }

  async newOrder(): Promise<NewOrder> {
    const { createOrder } = this.options;
    const store = async (digits: boolean): Promise<NewOrder> => {
      const reference = digits ? String(randomInt(1e9, 2e9)) : await this.#reference();
      const order = { reference, amount: 1_500, currency: 'XOF', tenant: null };
      await (createOrder === undefined
        ? this.observer.call('createOrder', order)
        : createOrder(order));
      return order;
    };
    try {
      return await store(this.#isDigits);
    } catch (error) {
      const order = await store(true).catch(() => undefined);
      if (order === undefined || this.#isDigits)
        throw new UsageError(
          'createOrder',
          `createOrder stored no order: ${(error as Error).message}`,
        );
      this.#isDigits = true;
      return order;
    }
  }

  async truth({ reference, ...order }: NewOrder): Promise<Truth> {
    const paid = (await this.observer.call('find', { reference, ...order })) === true;
    if (!this.hasEffects) return { paid, effects: undefined };
    const effects =
      this.options.effects?.(reference) ?? this.observer.call('effects', { reference, ...order });
    return { paid, effects: Number(await effects) };
  }

  /** Resolves when the database has answered another question, or after a second. */
  async questionAnswered(): Promise<void> {
    await this.observer.call('find', this.#paidOrder, 1_000).catch(() => undefined);
  }

  /** Returns a process whose connections are open, and begins to start the next one. */
  async newCaller(): Promise<Caller> {
    const starting = this.#spare ?? this.#start();
    this.#spare = this.#start();
    this.#spare.catch(() => undefined);
    return starting;
  }

  async close(): Promise<void> {
    await this.#spare?.catch(() => undefined);
    await Promise.all([this.observer, ...this.#callers].map((caller) => caller.close()));
  }

  async #reference(): Promise<string> {
    const { reference } = this.options;
    if (reference !== undefined) return reference();
    if (!this.observer.exports!.includes('reference')) return randomUUID();
    return String(await this.observer.call('reference'));
  }

  async #start(): Promise<Caller> {
    const { changes, options } = this;
    const proxy = await Proxy.open(this.database, changes);
    const caller = await Caller.start(sourceOf(options), { proxy, changes, url: proxy.url });
    this.#callers.add(caller);
    // Opens the pools, so that no later delivery has to.
    const { isAcknowledged, code } = await caller.deliver(await this.newOrder());
    const notes = [...proxy.notes];
    if (isAcknowledged && proxy.wasUsed) return caller;
    const variable = options.databaseVariable ?? 'DATABASE_URL';
    throw new UsageError(
      'databaseUrl',
      notes.join(' ') ||
        (proxy.wasUsed
          ? `A delivery of a new order, alone, was not acknowledged (${code}): run testOrders first`
          : `The module did not connect to the address in ${variable}: name its variable`),
    );
  }
}

function sourceOf({ module, databaseVariable: variable = 'DATABASE_URL' }: LabOptions): Source {
  return { module, variable };
}

/** @throws UsageError if nothing listens at the address */
async function reach({ host, port, place }: Database): Promise<void> {
  const socket = connect({ host, port, timeout: REACHED });
  socket.once('timeout', () => socket.destroy(new Error('no answer')));
  try {
    await once(socket, 'connect');
  } catch (error) {
    throw new UsageError('databaseUrl', `${place} cannot be reached: ${(error as Error).message}`);
  } finally {
    socket.destroy();
  }
}
