/**
 * Runs the merchant's module in a separate process, whose database address leads through the
 * proxy. Obeys the process that started it, and ends with it.
 */
import { createPayments, type Order, type Orders } from '@paylink/payments';
import type { Call, Delivered, NewOrder, Told } from './caller-contract.js';

interface ShopModule {
  readonly orders: Orders;
  readonly createOrder?: (order: NewOrder) => unknown;
  readonly effects?: (reference: string) => Promise<number> | number;
  readonly reference?: () => string;
  readonly close?: () => unknown;
}

const tell = (told: Told): void => void process.send?.(told);
process.once('disconnect', () => process.exit());

async function load(path: string): Promise<ShopModule> {
  const loaded = (await import(path)) as Record<string, unknown>;
  // A CommonJS module may have its exports in `default` alone.
  return { ...Object(loaded['default']), ...loaded } as ShopModule;
}

/** Orders that report each result of `find` and `credit`. */
function watched(orders: Orders): Orders {
  return {
    async find(...call) {
      const order = await orders.find(...call);
      tell({ event: 'found', value: order?.paid });
      return order;
    },
    async credit(...call) {
      const count = await orders.credit(...call);
      tell({ event: 'credited', value: count === null ? null : Number(count) });
      return count;
    },
  };
}

type Commands = Record<Call['name'], (order: NewOrder) => unknown>;

function commandsOf(shop: ShopModule): Commands {
  const known = new Map<string, NewOrder>();
  const silent = { warn: () => undefined, error: () => undefined };
  // The service has been paid for the orders of this run, and knows no others.
  const getPayment = async (reference: string) => {
    const order = known.get(reference);
    if (order === undefined) throw Object.assign(new Error('no payment'), { status: 404 });
    return { ...order, status: 'success' };
  };
  const { receive, reconcile } = createPayments({
    client: { getPayment },
    orders: watched(shop.orders),
    logger: silent,
    timeout: 10_000,
  });
  const { signal } = new AbortController();
  return {
    async deliver(order): Promise<Delivered> {
      known.set(order.reference, order);
      try {
        await receive({ ...order, type: 'payment.succeeded' });
        return { isAcknowledged: true };
      } catch (error) {
        const { code, message } = error as { code?: string; message?: string };
        return { isAcknowledged: false, code: code ?? String(message) };
      }
    },
    async reconcile(order) {
      known.set(order.reference, order);
      await reconcile([order.reference]);
    },
    async find({ reference, tenant }) {
      const order: Order | null | undefined = await shop.orders.find(reference, { tenant, signal });
      return order?.paid;
    },
    createOrder: async (order) => void (await shop.createOrder!(order)),
    effects: async ({ reference }) => shop.effects!(reference),
    reference: () => shop.reference!(),
    close: async () => void (await shop.close?.()),
    // The turn's writes have left the process.
    ping: () => new Promise((resolve) => setImmediate(resolve)),
  };
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

async function obey(path: string): Promise<void> {
  const shop = await load(path);
  const names = ['createOrder', 'effects', 'reference'] as const;
  const found = names.filter((name) => typeof shop[name] === 'function');
  const { find, credit } = Object(shop.orders) as Record<string, unknown>;
  if (typeof find !== 'function' || typeof credit !== 'function')
    throw new Error('it exports no orders with find and credit');
  const commands = commandsOf(shop);
  process.on('message', ({ id, name, order }: Call) => {
    void (async () => commands[name](order))().then(
      (value) => tell({ id, value }),
      (error: unknown) => tell({ id, error: messageOf(error) }),
    );
  });
  tell({ event: 'ready', value: found });
}

obey(process.argv[2]!).catch((error: unknown) =>
  tell({ event: 'failed', value: messageOf(error) }),
);
