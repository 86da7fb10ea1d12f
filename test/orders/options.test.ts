/** The options of `testOrders`: which are refused, and what cannot be tested without them. */
import { memoryOrders } from '@paylink/payments';
import { testOrders } from '@paylink/testing';
import { expect, it, vi } from 'vitest';
import { reportOf } from './faults.js';
import { Shop } from './shop.js';

it.each<readonly [string, object]>([
  ['an unknown option', { tenant: 'a' }],
  ['createOrder must be a function', { createOrder: undefined }],
  ['effects must be a function', { effects: 1 }],
  ['later.ship must be a function', { later: { ship: true } }],
  ['orders.unpaid must be a function', { orders: { ...memoryOrders().orders, unpaid: [] } }],
  ['tenants must be two different tenants', { tenants: ['a'] }],
  ['tenants must be two different tenants', { tenants: ['a', 'a'] }],
  ['tenants must be two different tenants', { tenants: ['a', undefined] }],
])('registers no test, because %s', (message, wrong) => {
  const test = vi.fn();
  expect(() => testOrders({ ...new Shop().options(), test, ...wrong })).toThrow(message);
  expect(test).not.toHaveBeenCalled();
});

it('says what it cannot test', () => {
  const untested: string[] = [];
  const test = Object.assign(() => undefined, { skip: (title: string) => untested.push(title) });
  testOrders({ ...new Shop().options(), effects: () => 0, test });
  expect(untested).toEqual([
    expect.stringMatching(/^not tested: another tenant .* \(needs the option tenants\)/),
    expect.stringMatching(/^not tested: a second connection .* \(needs the option elsewhere\)/),
    expect.stringMatching(/^not tested: find shows no credit .* \(needs the option elsewhere\)/),
    expect.stringMatching(/^not tested: further writes are in the transaction of the credit/),
    expect.stringMatching(/^not tested: total moves by three .* \(needs the option total\)/),
    expect.stringMatching(/^not tested: a total of money .* \(needs the option total\)/),
    expect.stringMatching(/^not tested: a paid order stays paid .* \(needs the option later\)/),
    expect.stringMatching(/^not tested: an order that is closed .* \(needs the option later,/),
    expect.stringMatching(/^not tested: two processes credit an order once/),
  ]);
});

/** A shop that cannot store every order. */
const refusing = (shop: Shop) =>
  shop.options(
    {},
    {
      async createOrder(order) {
        if (order.amount < 100) throw new Error('violates check constraint');
        await shop.insert(order);
      },
    },
  );
const NOT_STORED = /^not tested: an order of 1 is found and credited exactly \(.*check constraint/;

it("skips a running check that the database cannot show, and gives the database's reason", async () => {
  expect(await reportOf(refusing(new Shop()))).toEqual({
    faults: [],
    skipped: [expect.stringMatching(NOT_STORED)],
  });
});

it('warns under a runner whose running tests cannot skip, and skips with the `this` of mocha', async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue(undefined);
  const runs: ((...context: unknown[]) => Promise<void>)[] = [];
  const test = Object.assign((_: string, run: (typeof runs)[0]) => runs.push(run), {
    skip: () => undefined,
  });
  testOrders({ ...refusing(new Shop()), test });
  const mocha = { skip: vi.fn() };
  for (const run of runs) await run.call(mocha);
  expect(warn).toHaveBeenCalledWith(expect.stringMatching(NOT_STORED));
  expect(mocha.skip).toHaveBeenCalledOnce();
});
