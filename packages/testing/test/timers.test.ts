/** A timer that is left behind keeps the merchant's test process alive. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  // The sources keep the timers of their import.
  vi.resetModules();
});
afterEach(() => void vi.useRealTimers());

it('testOrders names a function of the shop that hangs for ten seconds', async () => {
  const { bounded } = await import('../src/orders/shop.js');
  const hanging = bounded('credit', () => new Promise(() => undefined));
  const named = expect(hanging).rejects.toThrow(/^credit did not settle within 10 s\. Look for/);
  await vi.advanceTimersByTimeAsync(10_000);
  await named;
});

it('testOrders leaves no timer behind a function of the shop that ended', async () => {
  const { bounded } = await import('../src/orders/shop.js');
  expect(await bounded('find', async () => 'order')).toBe('order');
  expect(vi.getTimerCount()).toBe(0);
});

it('testSchedules leaves no timer behind a wait that ended', async () => {
  const { Changes } = await import('../src/schedules/changes.js');
  const changes = new Changes();
  let isReached = false;
  const waiting = changes.until(() => isReached);
  isReached = true;
  changes.tell();
  expect(await waiting).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

it('a Wire leaves no timer behind a connection and a piece that was sent', async () => {
  const { Wire } = await import('../src/wire.js');
  const server = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const wire = await Wire.open((server.address() as AddressInfo).port);
  await wire.write('piece');
  expect(vi.getTimerCount()).toBe(0);
  wire.destroy();
  server.close();
});
