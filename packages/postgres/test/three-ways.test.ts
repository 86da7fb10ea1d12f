/** Webhook, return page and schedule of several processes, one of which dies during its credits. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { postgresStore } from '@paylink/postgres';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { receiverOn, Shop, credit, silent } from './shop.js';

let shop: Shop;
const children: ChildProcess[] = [];
beforeAll(async () => {
  shop = await Shop.open();
}, 120_000);
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await shop.rest();
});
afterAll(() => shop.close());

async function start(): Promise<ChildProcess> {
  const file = fileURLToPath(new URL('./three-ways-process.ts', import.meta.url));
  const execArgv = ['--conditions=@paylink/source', '--import', 'tsx'];
  const child = fork(file, [shop.server.url], { execArgv });
  children.push(child);
  await once(child, 'message');
  return child;
}

it('credits each order once by webhook, settle and reconcile in three processes, one killed', async () => {
  const processes = await Promise.all([start(), start(), start()]);
  const references = await Promise.all(Array.from({ length: 30 }, () => shop.order()));
  let killed: ChildProcess | undefined;
  const ended = processes.map(
    (child) =>
      new Promise((resolve) => {
        child.on('exit', resolve).on('message', (message) => {
          if (message === 'ended') resolve(message);
          else if (killed === undefined) (killed = child).kill('SIGKILL');
        });
      }),
  );
  for (const child of processes) child.send(references);
  await Promise.all(ended);
  expect(killed).toBeDefined();
  const deliver = receiverOn(postgresStore(shop.pool(), { logger: silent }), credit);
  // PostgreSQL may take a moment to end the transactions of the dead process.
  for (const reference of references)
    await vi.waitFor(async () => expect(await deliver(reference)).toBe(200), 10_000);
  const credits = await Promise.all(references.map((reference) => shop.creditsOf(reference)));
  expect(credits).toEqual(references.map(() => 1));
}, 60_000);
