/** Loads on one process or several, on the real clock or on a virtual one. */
import { createPayments, type Orders, type PaymentClient } from '@paylink/payments';

export const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** The Payment Link Service, which says what the load wants to hear. */
export interface Service {
  readonly client: (statusOf: (reference: string) => string) => PaymentClient;
  readonly questions: () => number;
}

const QUIET = { warn: () => undefined, error: () => undefined };

/** A shop whose orders are in memory, and all unpaid at first. */
function openShop(client: PaymentClient, options: { readonly concurrency?: number } = {}) {
  const paid = new Set<string>();
  const orders: Orders = {
    find: (reference) => ({ reference, amount: 1_000, currency: 'XOF', paid: paid.has(reference) }),
    credit({ reference }) {
      if (paid.has(reference)) return 0;
      paid.add(reference);
      return 1;
    },
  };
  return { payments: createPayments({ client, orders, logger: QUIET, ...options }), paid };
}

const numbered = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${name}-${index}`);

const succeeded = (reference: string) => ({ type: 'payment.succeeded', reference, tenant: null });

/** Delivers again after the Retry-After of each reply, as the service does. */
async function deliver(payments: ReturnType<typeof openShop>['payments'], reference: string) {
  for (;;) {
    try {
      await payments.receive(succeeded(reference));
      return;
    } catch (error) {
      const { retryAfter = 5_000 } = error as { readonly retryAfter?: number };
      await sleep(1_000 * Math.max(1, Math.ceil(retryAfter / 1_000)));
    }
  }
}

export interface Goodput {
  /** Credits per second in the last third, over the capacity. */
  readonly share: number;
  /** The longest milliseconds in which a notification was credited, or refused. */
  readonly slowest: number;
}

/** Delivers notifications at a multiple of what the line can ask, each once. */
export async function overload(
  { client }: Service,
  {
    concurrency,
    latency,
    factor,
    seconds,
  }: {
    readonly concurrency: number;
    readonly latency: number;
    readonly factor: number;
    readonly seconds: number;
  },
): Promise<Goodput> {
  const shop = openShop(
    client(() => 'success'),
    { concurrency },
  );
  const capacity = (1_000 * concurrency) / latency;
  const started = performance.now();
  const from = started + (1_000 * seconds * 2) / 3;
  const end = started + 1_000 * seconds;
  let [credits, slowest] = [0, 0];
  const receive = async (reference: string): Promise<void> => {
    const came = performance.now();
    const isCredited = await shop.payments.receive(succeeded(reference)).then(
      () => true,
      () => false,
    );
    const now = performance.now();
    slowest = Math.max(slowest, now - came);
    if (isCredited && now >= from && now < end) credits++;
  };
  const running: Promise<void>[] = [];
  const count = capacity * factor * seconds;
  while (running.length < count) {
    const due = ((performance.now() - started) / 1_000) * capacity * factor;
    while (running.length < Math.min(due, count)) running.push(receive(`order-${running.length}`));
    await sleep(10);
  }
  await Promise.all(running);
  return { share: credits / (seconds / 3) / capacity, slowest };
}

/**
 * Lets pages poll pending orders every 2 seconds. Returns the seconds until the notifications, and
 * the orders of the schedule, were all credited beside them.
 */
export async function beside(
  { client }: Service,
  counts: { readonly pages: number; readonly notifications: number; readonly scheduled: number },
): Promise<{ readonly notified: number; readonly reconciled: number }> {
  const { payments, paid } = openShop(
    client((reference) => (reference.startsWith('page') ? 'pending' : 'success')),
  );
  let isOpen = true;
  const poll = async (reference: string): Promise<void> => {
    while (isOpen) {
      await payments.settle(reference);
      await sleep(2_000);
    }
  };
  const polling = numbered('page', counts.pages).map(poll);
  await sleep(10_000);
  const started = performance.now();
  const secondsUntil = async (work: Promise<unknown>): Promise<number> => {
    await work;
    return (performance.now() - started) / 1_000;
  };
  const reconcile = async (): Promise<void> => {
    const references = numbered('scheduled', counts.scheduled);
    while (!references.every((each) => paid.has(each))) await payments.reconcile(references);
  };
  const notifications = numbered('notified', counts.notifications);
  const [notified, reconciled] = await Promise.all([
    secondsUntil(Promise.all(notifications.map((each) => deliver(payments, each)))),
    secondsUntil(reconcile()),
  ]);
  isOpen = false;
  await Promise.all(polling);
  return { notified, reconciled };
}

/** Delivers notifications to several processes at one limit of the service. */
export async function atOneLimit(
  { client, questions }: Service,
  { processes, notifications }: { readonly processes: number; readonly notifications: number },
): Promise<{ readonly seconds: number; readonly questionsEach: number }> {
  const shops = Array.from({ length: processes }, () => openShop(client(() => 'success')));
  const [started, before] = [performance.now(), questions()];
  await Promise.all(
    numbered('order', notifications).map((reference, index) =>
      deliver(shops[index % processes]!.payments, reference),
    ),
  );
  const seconds = (performance.now() - started) / 1_000;
  return { seconds, questionsEach: (questions() - before) / notifications };
}
