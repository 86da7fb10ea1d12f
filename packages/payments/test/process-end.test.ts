/** A process that nobody waits for ends, and a caller who waits keeps it. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundleScript, type Bundle } from '../../../test/servers/bundle.js';

let bundle: Bundle;
beforeAll(async () => {
  bundle = await bundleScript(new URL('../src/index.ts', import.meta.url));
});
afterAll(() => bundle.remove());

/** Runs code in a process of its own whose service does not answer. Returns its output. */
async function run(code: string, timeout = 20_000): Promise<string> {
  const source = `
    import { createPayments, memoryOrders } from ${JSON.stringify(bundle.path)};
    const { orders, add } = memoryOrders();
    add({ reference: 'order-1', amount: 1_000, currency: 'XOF' });
    const client = { getPayment: () => new Promise(() => undefined) };
    const payments = createPayments({ client, orders, timeout: ${timeout} });
    const controller = new AbortController();
    const stop = setTimeout(() => controller.abort(new Error('stopped')), 100);
    const { signal } = controller;
    const started = performance.now();
    process.on('exit', () => console.log(performance.now() - started < 5_000 ? 'soon' : 'late'));
    ${code}`;
  const options = ['--input-type=module', '--eval', source];
  // Ends a process that hangs, which would outlive the test.
  const { stdout } = await promisify(execFile)(process.execPath, options, { timeout: 25_000 });
  return stdout;
}

it.each([
  [
    'settle was aborted',
    `console.log((await payments.settle('order-1', { signal, wait: 60_000 })).status);`,
    'unavailable',
  ],
  [
    'the wait of settle was over',
    `console.log((await payments.settle('order-1', { wait: 50 })).status);`,
    'unavailable',
  ],
  [
    'settle was aborted while find() hangs',
    `const find = () => new Promise(() => undefined);
     const hanging = createPayments({ client, orders: { ...orders, find } });
     console.log((await hanging.settle('order-1', { signal })).status);`,
    'unavailable',
  ],
  [
    'the service paused all questions for an hour',
    `client.getPayment = () =>
       Promise.reject(Object.assign(new Error(), { status: 429, retryAfter: 3_600_000 }));
     console.log((await payments.settle('order-1')).status);`,
    'unavailable',
  ],
  [
    'reconcile was aborted',
    `await payments.reconcile(undefined, { signal }).catch(({ message }) => console.log(message));`,
    'stopped',
  ],
  [
    'reconcile was aborted in a pause of the service',
    `client.getPayment = () =>
       Promise.reject(Object.assign(new Error(), { status: 429, retryAfter: 3_600_000 }));
     const timeLimit = 7_200_000;
     await payments.reconcile(undefined, { signal, timeLimit }).catch(({ message }) =>
       console.log(message),
     );`,
    'stopped',
  ],
  [
    'explain was aborted',
    `await payments.explain('order-1', { signal }).catch(({ message }) => console.log(message));`,
    'stopped',
  ],
  [
    'explain was aborted in the line of questions',
    `const narrow = createPayments({ client, orders, concurrency: 1 });
     const page = narrow.settle('order-1', { signal });
     await narrow.explain('order-1', { signal }).catch(({ message }) => console.log(message));
     await page;`,
    'stopped',
  ],
  [
    'one of two callers was aborted, and the other has its answer',
    `const [page, later] = await Promise.all([
       payments.settle('order-1', { signal }),
       payments.settle('order-1', { wait: 300 }),
     ]);
     console.log(page.status, later.status);`,
    'unavailable unavailable',
  ],
])('ends soon after %s', async (_, code, output) => {
  expect(await run(code)).toBe(`${output}\nsoon\n`);
});

it('waits for a notification, although a page of the same order was aborted', async () => {
  const code = `
    const [page, notification] = await Promise.all([
      payments.settle('order-1', { signal }),
      payments.receive({ type: 'payment.succeeded', reference: 'order-1' }).catch((error) => error),
    ]);
    console.log(page.status, notification.code);`;
  // Its own time may end before the question of the page, or right after it.
  const output = /^unavailable (handler_timeout|confirm_unavailable)\nsoon\n$/;
  expect(await run(code, 600)).toMatch(output);
});

it('waits for a run of the schedule', async () => {
  const code = `console.log((await payments.reconcile()).errors.outcomes);`;
  expect(await run(code, 600)).toBe('{ handler_timeout: 1 }\nsoon\n');
});

it('reads a long list to its end, although only the run keeps the process', async () => {
  const code = `
    clearTimeout(stop);
    const references = Array.from({ length: 1_100 }, (_, at) => 'order-of-nobody-' + at);
    console.log((await payments.reconcile(references)).errors.count);`;
  expect(await run(code)).toBe('1100\nsoon\n');
});
