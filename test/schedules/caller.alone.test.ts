/** The process that runs a merchant's module, without a proxy. */
import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { bundleScripts } from '../servers/bundle.js';

const caller = new URL('../../packages/testing/src/schedules/caller.ts', import.meta.url);
const { folder, remove } = await bundleScripts({ caller });
afterAll(remove);

const SHOP = `const paid = new Set();
const keyOf = (reference, { tenant }) => JSON.stringify([tenant, reference]);
export const orders = {
  find: (reference, context) => {
    const order = { reference, amount: 1500, currency: 'XOF' };
    return { ...order, paid: paid.has(keyOf(reference, context)) };
  },
  credit: ({ reference }, context) => paid.add(keyOf(reference, context)) && 1,
};`;

it.each(['deliver', 'reconcile'])(
  '%s credits the order of its tenant, and no other',
  async (name) => {
    const module = join(folder, 'shop.mjs');
    writeFileSync(module, SHOP);
    const child = fork(join(folder, 'caller.js'), [pathToFileURL(module).href, '']);
    onTestFinished(() => void child.kill());
    const order = { reference: 'order-1', amount: 1_500, currency: 'XOF' };
    const call = (command: string, tenant: string | null): Promise<unknown> =>
      new Promise((resolve) => {
        child.on('message', (told: { id?: number; value?: unknown }) => {
          // Other messages report each find and credit.
          if (told.id !== undefined) resolve(told.value);
        });
        child.send({ id: 1, name: command, order: { ...order, tenant } });
      });
    await call('load', null);
    await call(name, 'merchant-b');
    const paid = [await call('find', 'merchant-b'), await call('find', null)];
    expect(paid).toEqual([true, false]);
  },
);
