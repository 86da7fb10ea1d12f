/** Histories of orders by concurrent callers of several processes, against a sequential model. */
import { createPayments, memoryOrders, type Payments } from '@paylink/payments';
import fc from 'fast-check';

const steps = fc.nat(4);
const operations = fc.record({
  after: steps,
  order: fc.nat(1),
  does: fc.constantFrom('receive', 'settle', 'reconcile', 'pay'),
});
const histories = fc.array(fc.array(operations, { minLength: 1, maxLength: 3 }), {
  minLength: 2,
  maxLength: 4,
});

/** `paid`: the caller learned that the order is credited. `unpaid`: that it is not. */
export interface Event {
  readonly order: number;
  readonly does: 'receive' | 'settle' | 'reconcile' | 'pay';
  readonly begin: number;
  end: number;
  result: 'paid' | 'unpaid' | 'done';
}

/** What has happened to the orders: the customer has paid, the shop has credited. */
interface State {
  readonly paid: ReadonlySet<number>;
  readonly credited: ReadonlySet<number>;
}

const NOTHING: State = { paid: new Set(), credited: new Set() };

/** Returns true if some order of the events fits the model and keeps their order in time. */
export function isLinearizable(events: readonly Event[], state: State = NOTHING): boolean {
  if (events.length === 0) return true;
  const firstEnd = Math.min(...events.map(({ end }) => end));
  return events.some((event) => {
    const { order, does, begin, result } = event;
    if (begin > firstEnd) return false;
    const rest = events.filter((other) => other !== event);
    if (does === 'pay') {
      return isLinearizable(rest, { ...state, paid: new Set([...state.paid, order]) });
    }
    if (result === 'unpaid') return !state.credited.has(order) && isLinearizable(rest, state);
    const isAllowed = state.paid.has(order);
    const credited = new Set([...state.credited, order]);
    return isAllowed && isLinearizable(rest, { ...state, credited });
  });
}

type CreateProcess = (options: Parameters<typeof createPayments>[0]) => Payments;

/**
 * Holds if what the callers of two processes learn is linearizable, and each order that somebody
 * saw paid has one credit.
 */
export function linearizableOrders(create: CreateProcess = createPayments) {
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const pause = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1) await turn();
  };
  return fc.asyncProperty(histories, async (callers) => {
    const { orders, add } = memoryOrders();
    const references = ['order-0', 'order-1'];
    for (const reference of references) add({ reference, amount: 500, currency: 'XOF' });
    const paid = new Set<string>();
    const credits = new Map<string, number>();
    const process = (): Payments =>
      create({
        orders: {
          find: async (...call) => {
            await turn();
            return orders.find(...call);
          },
          credit: async (payment, context) => {
            await turn();
            const count = await orders.credit(payment, context);
            const before = credits.get(payment.reference) ?? 0;
            credits.set(payment.reference, before + Number(count));
            return count;
          },
        },
        client: {
          getPayment: async (reference) => {
            await turn();
            const status = paid.has(reference) ? 'success' : 'pending';
            return { reference, status, amount: 500, currency: 'XOF' };
          },
        },
        logger: { warn: () => undefined, error: () => undefined },
      });
    const processes = [process(), process()];
    const events: Event[] = [];
    let now = 0;

    const ask = async (payments: Payments, does: Event['does'], reference: string) => {
      if (does === 'receive') {
        await payments.receive({ type: 'payment.succeeded', reference });
        return true;
      }
      if (does === 'settle') return (await payments.settle(reference)).status === 'paid';
      const report = await payments.reconcile([reference]);
      return report.credited.count + report.paid.count > 0;
    };
    await Promise.all(
      callers.map(async (operationsOfOne, index) => {
        for (const { after, order, does } of operationsOfOne) {
          await pause(after);
          const event: Event = { order, does, begin: now++, end: Infinity, result: 'done' };
          events.push(event);
          if (does === 'pay') paid.add(references[order]!);
          else {
            const asking = ask(processes[index % 2]!, does, references[order]!);
            event.result = (await asking.catch(() => false)) ? 'paid' : 'unpaid';
          }
          event.end = now++;
        }
      }),
    );
    const isExact = references.every((reference, order) => {
      const isSeen = events.some((event) => event.order === order && event.result === 'paid');
      const count = credits.get(reference) ?? 0;
      return count <= 1 && (!isSeen || count === 1);
    });
    return isExact && isLinearizable(events);
  });
}
