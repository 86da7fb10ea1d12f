import { describe, expect, it } from 'vitest';
import type { Emulator } from '@paylink/emulator';
import { paylink } from './paylink.js';
import { serve } from './servers.js';
import { environmentOf, MODULE, openEmulator, order } from './shop/index.js';
import type { Shop } from './shop/payments.js';

interface Story {
  readonly shop: Shop;
  /** What the service went through before. */
  readonly before?: (emulator: Emulator) => Promise<unknown>;
  readonly env?: Record<string, string>;
  readonly args?: readonly string[];
  readonly reference?: string;
  readonly outcome: string;
  readonly turn: string;
  readonly proven: RegExp;
  readonly possible?: RegExp;
  readonly next: RegExp;
}

const link = { amount: 15_000, reference: 'order-42' };
const paid = async (emulator: Emulator, request: Parameters<Emulator['createLink']>[0] = link) => {
  await emulator.createLink(request);
  await emulator.pay(request.reference);
};
const one: Shop = { rows: [order()] };
const hasPaid = { before: (emulator: Emulator) => paid(emulator) };

const STORIES: Readonly<Record<string, Story>> = {
  'the notification never came, or the secret of the webhook is wrong': {
    shop: one,
    ...hasPaid,
    outcome: 'credited',
    turn: 'the schedule',
    proven: /the service has the money/,
    possible: /refused or never got the notification \(secret, path, parser\)/,
    next: /paylink reconcile --module .*payments/,
  },
  'credit changes no row': {
    shop: { ...one, credit: 'changes no row' },
    ...hasPaid,
    outcome: 'credited',
    turn: 'the schedule',
    proven: /nothing has credited the order/,
    possible: /`credit` changes no row: the log of your server says not_credited/,
    next: /paylink reconcile/,
  },
  'a refund reset the paid column': {
    shop: one,
    ...hasPaid,
    outcome: 'credited',
    turn: 'the schedule',
    proven: /the service has the money/,
    possible: /a refund reset the paid column\. Then do not credit this order again/,
    next: /paylink reconcile/,
  },
  'the order is paid, also after a refund that keeps the paid column': {
    shop: { rows: [order({ paid: true })] },
    ...hasPaid,
    outcome: 'paid',
    turn: 'nobody',
    proven: /the service confirms the payment/,
    next: /paylink verify/,
  },
  'somebody marked the order paid by hand': {
    shop: { rows: [order({ paid: true })] },
    before: (emulator) => emulator.createLink(link),
    outcome: 'paid',
    turn: 'you',
    proven: /your database says paid, and the service does not/,
    possible: /marked the order paid by hand/,
    next: /paylink verify/,
  },
  'the order is paid, and the service took another amount': {
    shop: { rows: [order({ paid: true, amount: 20_000 })] },
    ...hasPaid,
    outcome: 'paid',
    turn: 'you',
    proven: /the service has another amount or currency/,
    possible: /the order changed after its credit/,
    next: /paylink verify/,
  },
  'the amount differs': {
    shop: { rows: [order({ amount: 20_000 })] },
    ...hasPaid,
    outcome: 'amount_differs',
    turn: 'you',
    proven: /the service took the amount 15000, and the order has 20000/,
    possible: /the order changed after its link was created/,
    next: /paylink reconcile/,
  },
  'the currency differs': {
    shop: { rows: [order({ currency: 'EUR' })] },
    ...hasPaid,
    outcome: 'amount_differs',
    turn: 'you',
    proven: /the service took the currency "XOF", and the order has "EUR"/,
    next: /paylink reconcile/,
  },
  'a chosen amount is outside the bounds': {
    shop: { rows: [order({ amount: { min: 500, max: 1_000 } })] },
    ...hasPaid,
    outcome: 'amount_differs',
    turn: 'you',
    proven: /the order has 500 to 1000/,
    next: /paylink reconcile/,
  },
  'two orders have one reference': {
    shop: { rows: [order({ amount: 500 }), order()] },
    ...hasPaid,
    outcome: 'amount_differs',
    turn: 'you',
    proven: /2 orders have this reference/,
    next: /paylink doctor --module/,
  },
  'two orders may have one reference, and nobody can list them': {
    shop: { rows: [order({ amount: 500 }), order()], lists: 'none' },
    ...hasPaid,
    outcome: 'amount_differs',
    turn: 'you',
    proven: /the service took the amount/,
    possible: /two orders have this reference, and the other one was paid/,
    next: /paylink reconcile/,
  },
  'the link was never created': {
    shop: one,
    outcome: 'no_payment',
    turn: 'you',
    proven: /the service has no payment of this reference/,
    possible: /the link was never created/,
    next: /paylink links create --reference=order-42 --amount 15000 --single-use --idempotency-key=order-42/,
  },
  'baseUrl is wrong': {
    shop: { rows: [order(), ...['a', 'b'].map((reference) => order({ reference, paid: true }))] },
    outcome: 'no_payment',
    turn: 'you',
    proven: /the service knows none of your paid orders: `baseUrl` or `apiKey` is wrong/,
    next: /paylink explain/,
  },
  'the order was closed and then paid': {
    shop: { rows: [order({ closed: true })] },
    ...hasPaid,
    outcome: 'order_closed',
    turn: 'you',
    proven: /the customer paid after the order was closed/,
    next: /paylink reconcile/,
  },
  'the customer has not paid yet': {
    shop: one,
    before: (emulator) => emulator.createLink(link),
    outcome: 'pending',
    turn: 'the customer',
    proven: /the customer has not paid yet/,
    next: /paylink explain/,
  },
  'the payment failed': {
    shop: one,
    before: async (emulator) => {
      await emulator.createLink(link);
      await emulator.fail('order-42');
    },
    outcome: 'failed',
    turn: 'the customer',
    proven: /the payment failed/,
    next: /paylink explain/,
  },
  'the customer cancelled': {
    shop: one,
    before: async (emulator) => {
      await emulator.createLink(link);
      await emulator.cancel('order-42');
    },
    outcome: 'cancelled',
    turn: 'the customer',
    proven: /the customer cancelled/,
    next: /paylink explain/,
  },
  'nobody has such an order': {
    shop: { rows: [] },
    ...hasPaid,
    outcome: 'unknown_order',
    turn: 'you',
    proven: /find\(\) returned no order/,
    possible: /this command reads another database than your server/,
    next: /paylink payments get .*order-42/,
  },
  'the reference has another spelling': {
    shop: { rows: [order()], find: 'ignores case' },
    reference: 'ORDER-42',
    outcome: 'unknown_order',
    turn: 'you',
    proven: /another spelling/,
    next: /paylink payments get .*ORDER-42/,
  },
  'the order belongs to another merchant': {
    shop: { rows: [order({ tenant: 'globex' })], isForMany: true },
    ...hasPaid,
    args: ['--tenant', 'acme'],
    outcome: 'unknown_order',
    turn: 'you',
    proven: /find\(\) returned no order/,
    possible: /the order belongs to another merchant than acme/,
    next: /paylink payments get/,
  },
  'the second merchant has the order': {
    shop: { rows: [order({ tenant: 'globex' })], isForMany: true },
    ...hasPaid,
    args: ['--tenant', 'acme', '--tenant', 'globex'],
    outcome: 'credited',
    turn: 'the schedule',
    proven: /the service has the money/,
    next: /paylink reconcile .*--tenant globex/,
  },
  'the amount of the order is no number': {
    shop: { rows: [order({ amount: 'fifteen' })] },
    outcome: 'invalid_order',
    turn: 'you',
    proven: /`amount` of the order must be/,
    next: /paylink doctor --module/,
  },
  'find says paid by something that is no boolean': {
    shop: { rows: [order({ paid: 'f' as unknown as boolean })] },
    outcome: 'invalid_order',
    turn: 'you',
    proven: /`paid` must be|`paid` of the order must be/,
    next: /paylink doctor --module/,
  },
  'the query of find is wrong': {
    shop: { ...one, find: 'throws' },
    outcome: 'orders_unavailable',
    turn: 'you',
    proven: /find/,
    possible: /the query of `find` is wrong/,
    next: /paylink explain/,
  },
  'the database is down': {
    shop: { ...one, find: 'cannot connect' },
    outcome: 'orders_unavailable',
    turn: 'you',
    proven: /nothing answers at the address of your database/,
    next: /paylink explain/,
  },
  'the service cannot be reached': {
    shop: one,
    env: { PAYLINK_BASE_URL: 'http://127.0.0.1:9/api' },
    outcome: 'confirm_unavailable',
    turn: 'you',
    proven: /./,
    possible: /`baseUrl` names the wrong host, or the service is down/,
    next: /paylink payments get/,
  },
  'one client asks for two merchants': {
    shop: { rows: [order({ tenant: 'globex' })] },
    ...hasPaid,
    args: ['--tenant', 'acme', '--tenant', 'globex'],
    outcome: 'confirm_unavailable',
    turn: 'you',
    proven: /a setting of the client is wrong: tenant .* has the API key of one merchant/,
    next: /paylink payments get/,
  },
  'the key is wrong': {
    shop: one,
    env: { PAYLINK_API_KEY: 'sk_live_another.0123456789abcdef' },
    outcome: 'confirm_unavailable',
    turn: 'you',
    proven: /the service refuses your API key/,
    next: /paylink payments get/,
  },
};

describe('paylink explain names the cause and the next command if', () => {
  it.each(Object.entries(STORIES))('%s', async (_, story) => {
    const emulator = await openEmulator();
    await story.before?.(emulator);
    const env = { ...environmentOf(emulator, story.shop), ...story.env };
    const args = ['explain', story.reference ?? 'order-42', '--module', MODULE];
    const { code, stdout } = await paylink([...args, ...(story.args ?? []), '--json'], { env });
    const said = JSON.parse(stdout) as {
      readonly outcome: string;
      readonly turn: string;
      readonly next: string;
      readonly causes: readonly { readonly cause: string; readonly proven: boolean }[];
    };
    expect(said).toMatchObject({ outcome: story.outcome, turn: story.turn });
    const causes = (isProven: boolean): string =>
      said.causes
        .filter(({ proven }) => proven === isProven)
        .map(({ cause }) => cause)
        .join('\n');
    expect(causes(true)).toMatch(story.proven);
    if (story.possible !== undefined) expect(causes(false)).toMatch(story.possible);
    expect(said.next).toMatch(story.next);
    expect(code).toBe(['you', 'the service'].includes(story.turn) ? 1 : 0);
  });
});

describe('paylink explain', () => {
  it('prints the order, the answer of the service, the outcome and the next command', async () => {
    const emulator = await openEmulator();
    await paid(emulator);
    const env = environmentOf(emulator, one);
    const { code, stdout, stderr } = await paylink(['explain', 'order-42', '--module', MODULE], {
      env,
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/your order +15000 XOF, unpaid\n/);
    expect(stdout).toMatch(/the service +success, 15000 XOF\n/);
    expect(stdout).toMatch(/outcome +credited\n/);
    expect(stdout).toMatch(/Next: .*\n {2}npx --no-install paylink reconcile --module \S+\n$/);
    // Nothing was written: the order is still to be credited.
    expect(emulator.deliveries()).toHaveLength(0);
  });

  it('says that the service limits the rate of questions', async () => {
    const limited = await serve((_req, res) =>
      res.writeHead(429, { 'retry-after': '60' }).end('{}'),
    );
    const env = environmentOf({ baseUrl: `${limited}/api`, apiKey: 'sk_live_a.bcdefghi' }, one);
    const { code, stdout } = await paylink(['explain', 'order-42', '--module', MODULE], { env });
    expect(code).toBe(1);
    expect(stdout).toContain('the service asks Paylink to wait');
  });

  it('says that the service answers nonsense', async () => {
    const broken = await serve((_req, res) =>
      res
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"reference":"order-42","type":"payment","status":"success","currency":"XOF"}'),
    );
    const env = environmentOf({ baseUrl: `${broken}/api`, apiKey: 'sk_live_a.bcdefghi' }, one);
    const { code, stdout } = await paylink(['explain', 'order-42', '--module', MODULE], { env });
    expect(code).toBe(1);
    expect(stdout).toMatch(/outcome +confirm_unavailable[^]*gave no usable answer/);
  });
});
