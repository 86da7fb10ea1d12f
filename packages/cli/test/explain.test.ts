import { writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Emulator } from '@paylink/emulator';
import { newFolder } from './paylink.js';
import { serve } from './servers.js';
import { NOBODY, openEmulator, order, paylinkOn } from './shop/index.js';
import type { Shop } from './shop/payments.js';

interface Story {
  /** Default: one unpaid order. */
  readonly shop?: Shop;
  /** What the service went through before. Default: the payment succeeded. */
  readonly before?: (emulator: Emulator) => Promise<unknown>;
  readonly env?: Record<string, string>;
  readonly args?: readonly string[];
  readonly reference?: string;
  readonly outcome: string;
  /** Default: you. */
  readonly turn?: string;
  readonly proven: RegExp;
  readonly possible?: RegExp;
  /** The next command, without its module. */
  readonly next: string;
}

const link = { amount: 15_000, reference: 'order-42' };
const endedBy = (event: 'pay' | 'fail' | 'cancel') => async (emulator: Emulator) => {
  await emulator.createLink(link);
  await emulator[event](link.reference);
};
const one: Shop = { rows: [order()] };
const noPayment = async (): Promise<void> => undefined;

const STORIES: Readonly<Record<string, Story>> = {
  'the service has the money, and the order is unpaid': {
    outcome: 'credited',
    turn: 'the schedule',
    proven: /the service has the money/,
    possible:
      /never received the notification[^]*`credit` throws or changes no row[^]*a refund reset the column/,
    next: 'reconcile --module',
  },
  'the order is paid, also after a refund that keeps the paid column': {
    shop: { rows: [order({ paid: true })] },
    outcome: 'paid',
    turn: 'nobody',
    proven: /the service confirms the payment/,
    next: 'payments get',
  },
  'somebody marked the order paid by hand': {
    shop: { rows: [order({ paid: true })] },
    before: (emulator) => emulator.createLink(link),
    outcome: 'paid',
    proven: /the order is paid in your database, but the service does not/,
    possible: /marked the order paid by hand/,
    next: 'payments get',
  },
  'the order is paid, and the service took another amount': {
    shop: { rows: [order({ paid: true, amount: 20_000 })] },
    outcome: 'paid',
    proven: /the service has a different amount or currency/,
    possible: /the order changed after its credit/,
    next: 'payments get',
  },
  'the amount differs, perhaps because two orders have one reference': {
    shop: { rows: [order({ amount: 20_000 })] },
    outcome: 'amount_differs',
    proven: /the service took the amount 15000, and the order has 20000/,
    possible: /the order changed after its link[^]*two orders have this reference/,
    next: 'reconcile',
  },
  'a chosen amount is outside the bounds': {
    shop: { rows: [order({ amount: { min: 500, max: 1_000 } })] },
    outcome: 'amount_differs',
    proven: /the order has 500 to 1000/,
    next: 'reconcile',
  },
  'the link was never created': {
    before: noPayment,
    outcome: 'no_payment',
    proven: /the service has no payment with this reference/,
    possible: /the link was never created[^]*`baseUrl` or `apiKey` is wrong/,
    next: 'links create --reference=order-42 --amount 15000 --single-use --idempotency-key=order-42',
  },
  'the order was closed and then paid': {
    shop: { rows: [order({ closed: true })] },
    outcome: 'order_closed',
    proven: /the customer paid after the order was closed/,
    next: 'reconcile',
  },
  'the customer has not paid yet': {
    before: (emulator) => emulator.createLink(link),
    outcome: 'pending',
    turn: 'the customer',
    proven: /the customer has not paid yet/,
    next: 'payments get',
  },
  'the payment failed': {
    before: endedBy('fail'),
    outcome: 'failed',
    turn: 'the customer',
    proven: /the payment failed/,
    next: 'payments get',
  },
  'the customer cancelled': {
    before: endedBy('cancel'),
    outcome: 'cancelled',
    turn: 'the customer',
    proven: /the customer cancelled/,
    next: 'payments get',
  },
  'nobody has such an order, and the service neither': {
    before: noPayment,
    shop: { rows: [] },
    outcome: 'unknown_order',
    proven: /find\(\) returned no order[^]*the service has no payment/,
    possible: /the reference is mistyped: neither side knows it/,
    next: 'explain --module',
  },
  'only the service knows the reference': {
    shop: { rows: [] },
    outcome: 'unknown_order',
    proven: /find\(\) returned no order/,
    possible: /this command reads a different database from your server/,
    next: 'payments get',
  },
  'the reference has another spelling': {
    before: noPayment,
    shop: { rows: [order()], find: 'ignores case' },
    reference: 'ORDER-42',
    outcome: 'unknown_order',
    proven: /spelled differently/,
    next: 'explain --module',
  },
  'the order belongs to another merchant': {
    shop: { rows: [order({ tenant: 'globex' })], isForMany: true },
    args: ['--tenant', 'acme'],
    outcome: 'unknown_order',
    proven: /find\(\) returned no order/,
    possible: /the order belongs to a merchant other than acme/,
    next: 'payments get',
  },
  'the second merchant has the order': {
    shop: { rows: [order({ tenant: 'globex' })], isForMany: true },
    args: ['--tenant', 'acme', '--tenant', 'globex'],
    outcome: 'credited',
    turn: 'the schedule',
    proven: /the service has the money/,
    next: 'reconcile --module <file> --tenant globex order-42',
  },
  'the second merchant has the order, and the first cannot be read': {
    shop: { rows: [order({ tenant: 'globex' })], isForMany: true, find: 'throws for acme' },
    args: ['--tenant', 'acme', '--tenant', 'globex'],
    outcome: 'credited',
    turn: 'the schedule',
    proven: /the service has the money/,
    next: 'reconcile --module <file> --tenant globex order-42',
  },
  'the first merchant has the order, and the last does not': {
    shop: { rows: [order({ tenant: 'acme' })], isForMany: true },
    args: ['--tenant', 'acme', '--tenant', 'globex'],
    outcome: 'credited',
    turn: 'the schedule',
    proven: /the service has the money/,
    next: 'reconcile --module <file> --tenant acme order-42',
  },
  'no merchant has the order': {
    before: noPayment,
    shop: { rows: [], isForMany: true },
    args: ['--tenant', 'acme', '--tenant', 'globex'],
    outcome: 'unknown_order',
    proven: /find\(\) returned no order/,
    possible: /the order belongs to a merchant other than acme, globex/,
    next: 'explain --module',
  },
  'no merchant has the order, and the first cannot be read': {
    before: noPayment,
    shop: { rows: [], isForMany: true, find: 'throws for acme' },
    args: ['--tenant', 'acme', '--tenant', 'globex'],
    outcome: 'orders_unavailable',
    proven: /find\(\) threw/,
    next: '',
  },
  'the amount of the order is no number': {
    before: noPayment,
    shop: { rows: [order({ amount: 'fifteen' })] },
    outcome: 'invalid_order',
    proven: /`amount` of the order must be/,
    next: 'doctor --module',
  },
  'find says paid by something that is no boolean': {
    before: noPayment,
    shop: { rows: [order({ paid: 'f' as unknown as boolean })] },
    outcome: 'invalid_order',
    proven: /`paid` must be|`paid` of the order must be/,
    next: 'doctor --module',
  },
  'the query of find is wrong': {
    before: noPayment,
    shop: { ...one, find: 'throws' },
    outcome: 'orders_unavailable',
    proven: /find/,
    possible: /the query of `find` is wrong/,
    next: 'explain',
  },
  'the database is down': {
    before: noPayment,
    shop: { ...one, find: 'cannot connect' },
    outcome: 'orders_unavailable',
    proven: /nothing answers at your database's address/,
    next: 'explain',
  },
  'the service cannot be reached': {
    before: noPayment,
    env: { PAYLINK_BASE_URL: 'http://127.0.0.1:9/api' },
    outcome: 'confirm_unavailable',
    proven: /./,
    possible: /`baseUrl` has the wrong host, or the service is down/,
    next: 'payments get',
  },
  'the key is wrong': {
    before: noPayment,
    env: { PAYLINK_API_KEY: 'sk_live_another.0123456789abcdef' },
    outcome: 'confirm_unavailable',
    proven: /the service rejects your API key/,
    next: 'payments get',
  },
};

describe('paylink explain names the cause and the next command if', () => {
  it.each(Object.entries(STORIES))('%s', async (_, story) => {
    const emulator = await openEmulator();
    const { shop = one, before = endedBy('pay'), turn = 'you', reference = 'order-42' } = story;
    await before(emulator);
    const args = ['explain', reference, ...(story.args ?? []), '--json'];
    const { code, stdout } = await paylinkOn(emulator, shop, args, { env: story.env ?? {} });
    const said = JSON.parse(stdout) as {
      readonly outcome: string;
      readonly turn: string;
      readonly next: string;
      readonly causes: readonly { readonly cause: string; readonly proven: boolean }[];
    };
    expect(said).toMatchObject({ outcome: story.outcome, turn });
    const causes = (isProven: boolean): string =>
      said.causes
        .filter(({ proven }) => proven === isProven)
        .map(({ cause }) => cause)
        .join('\n');
    expect(causes(true)).toMatch(story.proven);
    if (story.possible !== undefined) expect(causes(false)).toMatch(story.possible);
    expect(said.next.replace(/--module \S+/, '--module <file>')).toContain(
      `npx --no-install paylink ${story.next}`,
    );
    expect(code).toBe(['you', 'the service'].includes(turn) ? 1 : 0);
  });
});

const EXPLAIN = ['explain', 'order-42'];

describe('paylink explain', () => {
  it('prints the order, the answer of the service, the outcome and the next command', async () => {
    const emulator = await openEmulator();
    await endedBy('pay')(emulator);
    const dotenv = join(newFolder(), ".env of the shop's");
    writeFileSync(dotenv, '');
    const args = [...EXPLAIN, '--dotenv', dotenv];
    const { code, stdout, stderr } = await paylinkOn(emulator, one, args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/your order +15000 XOF, unpaid\n/);
    expect(stdout).toMatch(/the service +success, 15000 XOF\n/);
    expect(stdout).toMatch(/outcome +would be credited\n/);
    expect(stdout).toMatch(
      /Next: .*\n {2}npx --no-install paylink reconcile --module \S+ --dotenv '\S+\.env of the shop'\\''s' order-42\n$/,
    );
    const unread = await paylinkOn(emulator, { ...one, find: 'cannot connect' }, EXPLAIN);
    expect(unread.stdout).toMatch(/your order +could not be read\n/);
    // Nothing was written: the order is still to be credited.
    expect(emulator.deliveries()).toHaveLength(0);
  });

  it('does not point at reconcile, nor reconcile at it, if a credit throws', async () => {
    const emulator = await openEmulator();
    await endedBy('pay')(emulator);
    const shop: Shop = { ...one, credit: 'throws' };
    const explained = await paylinkOn(emulator, shop, EXPLAIN);
    expect(explained.stdout).toMatch(/`credit` throws or changes no row[^]*reconcile --module/);
    const run = await paylinkOn(emulator, shop, ['reconcile', 'order-42']);
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/no such column: paid_att/);
    expect(run.stderr).toMatch(/npx --no-install paylink doctor --module .* --yes/);
    expect(run.stderr).not.toContain('paylink explain');
  });

  it.each<[string, RequestListener, number, RegExp]>([
    [
      'says to wait if the service limits the rate of questions',
      (_req, res) => res.writeHead(429, { 'retry-after': '60' }).end('{}'),
      30_000,
      /acts next +the service\n[^]*the service asks Paylink to wait/,
    ],
    [
      'says to wait, and suspects no locked row, if the service is late',
      () => undefined,
      300,
      /handler_timeout\n.*the service\n(?![^]*locks the row)[^]*did not answer in time[^]*wait:/,
    ],
    [
      'names the API key if the service answers 403',
      (_req, res) => res.writeHead(403).end(),
      30_000,
      /acts next +you\n[^]*the service rejects your API key/,
    ],
    [
      'says that the service answers nonsense',
      (_req, res) =>
        res
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"reference":"order-42","type":"payment","status":"success","currency":"XOF"}'),
      30_000,
      /outcome +confirm_unavailable[^]*did not send a usable response/,
    ],
  ])('%s', async (_, answer, timeout, said) => {
    const service = { ...NOBODY, baseUrl: `${await serve(answer)}/api` };
    const { code, stdout } = await paylinkOn(service, { ...one, timeout }, EXPLAIN);
    expect(code).toBe(1);
    expect(stdout).toMatch(said);
  });
});
