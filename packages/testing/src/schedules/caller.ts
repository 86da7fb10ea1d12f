/**
 * Runs the merchant's module in a separate process, whose database address leads through the
 * proxy. Obeys the process that started it, and ends with it.
 */
import { createPayments, type Orders } from '@paylink/payments';
import { hookSqlite } from './sqlite.js';
import type { Delivered, NewOrder } from './subject.js';

interface ShopModule {
  readonly orders: Orders;
  readonly createOrder?: (order: NewOrder) => unknown;
  readonly effects?: (reference: string) => Promise<number> | number;
  readonly total?: (reference: string) => unknown;
  readonly reference?: () => string;
  readonly close?: () => unknown;
}

export type Command = keyof typeof commands;

/** What the process is told, and what it tells. */
export interface Call {
  readonly id: number;
  readonly name: Command;
  readonly order: NewOrder;
}
export type Told =
  | { readonly id: number; readonly value?: unknown; readonly error?: string }
  | { readonly event: 'found'; readonly value: boolean | undefined }
  | { readonly event: 'credited'; readonly value: number | null };

const tell = (told: Told): void => void process.send?.(told);
process.once('disconnect', () => process.exit());

let shop: ShopModule;
/** The service has been paid for this order. */
let paidOrder: NewOrder;

/** Orders that report each result of `find` and `credit`. */
const watched: Orders = {
  async find(...call) {
    const order = await shop.orders.find(...call);
    tell({ event: 'found', value: order?.paid });
    return order;
  },
  async credit(...call) {
    const count = await shop.orders.credit(...call);
    tell({ event: 'credited', value: count === null ? null : Number(count) });
    return count;
  },
};
const { receive, reconcile } = createPayments({
  client: { getPayment: async () => ({ ...paidOrder, status: 'success' }) },
  orders: watched,
  logger: { warn: () => undefined, error: () => undefined },
  timeout: 10_000,
});

const commands = {
  /** Returns the names of the module's optional exports. */
  async load() {
    const [, , module, hook] = process.argv;
    if (hook !== '') hookSqlite(module!);
    const loaded = (await import(module!)) as Record<string, unknown>;
    // A CommonJS module may have its exports in `default` alone.
    shop = { ...Object(loaded['default']), ...loaded } as ShopModule;
    const { find, credit } = Object(shop.orders) as Record<string, unknown>;
    if (typeof find !== 'function' || typeof credit !== 'function')
      throw new Error('it exports no orders with find and credit');
    const names = ['createOrder', 'effects', 'total', 'reference'] as const;
    return names.filter((name) => typeof shop[name] === 'function');
  },
  async deliver(order: NewOrder): Promise<Delivered> {
    paidOrder = order;
    try {
      await receive({ ...order, type: 'payment.succeeded' });
      return { isAcknowledged: true };
    } catch (error) {
      const { code, message } = error as { code?: string; message?: string };
      return { isAcknowledged: false, code: code ?? String(message) };
    }
  },
  async reconcile(order: NewOrder) {
    paidOrder = order;
    await reconcile([order.reference], { tenant: order.tenant });
  },
  async find({ reference, tenant }: NewOrder) {
    const { signal } = new AbortController();
    return (await shop.orders.find(reference, { tenant, signal }))?.paid;
  },
  createOrder: async (order: NewOrder) => void (await shop.createOrder!(order)),
  effects: async ({ reference }: NewOrder) => shop.effects!(reference),
  total: async ({ reference }: NewOrder) => Number(await shop.total!(reference)),
  reference: () => shop.reference!(),
  close: async () => void (await shop.close?.()),
  // The turn's writes have left the process.
  ping: () => new Promise((resolve) => setImmediate(resolve)),
};

process.on('message', ({ id, name, order }: Call) => {
  void (async () => commands[name](order))().then(
    (value) => tell({ id, value }),
    (error: unknown) =>
      tell({ id, error: error instanceof Error ? error.message || error.name : String(error) }),
  );
});
