import { expect, it, vi } from 'vitest';
import { ConfigurationError, createGate, webhookEvent } from '../src/index.js';
import { deliver, polluted, secret } from './deliver.js';

it('gives the event that a gate kept for a request, and only for that request', async () => {
  const request = {};
  await createGate({ secret }).admit(deliver(), {}, request);
  expect(webhookEvent(request)).toMatchObject({ reference: 'order-42' });
  expect(() => webhookEvent({})).toThrow(ConfigurationError);
  expect(() => webhookEvent({})).toThrow('put paymentGate({ secret }) in front of this handler');
});

it('finds the event that another copy of this package kept', async () => {
  vi.resetModules();
  const other = await import('../src/index.js');
  expect(other.createGate).not.toBe(createGate);
  const request = {};
  await other.createGate({ secret }).admit(deliver(), {}, request);
  expect(webhookEvent(request)).toMatchObject({ reference: 'order-42' });
});

it('takes no parsed body and no polluted prototype for an event', async () => {
  const names = ['event', 'paylink.event', 'Symbol(paylink.event)', '@@paylink.event'];
  const fakes = Object.fromEntries(names.map((name) => [name, { reference: 'order-99' }]));
  expect(() => webhookEvent(JSON.parse(JSON.stringify(fakes)) as object)).toThrow(
    ConfigurationError,
  );
  await polluted(fakes, () => {
    expect(() => webhookEvent({})).toThrow(ConfigurationError);
  });
});
