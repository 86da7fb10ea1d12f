import { expect, it, vi } from 'vitest';
import { ConfigurationError, createGate, webhookEvent } from '../src/index.js';
import { keepEvent } from '../src/internal.js';
import { deliver, polluted, secret } from './deliver.js';

const proven = async () => (await createGate({ secret }).admit(deliver(), {})).event!;

it('gives the event that a gate kept for a request, and only for that request', async () => {
  const request = {};
  const event = await proven();
  keepEvent(request, event);
  expect(webhookEvent(request)).toBe(event);
  expect(() => webhookEvent({})).toThrow(ConfigurationError);
  expect(() => webhookEvent({})).toThrow('put paymentGate({ secret }) in front of this handler');
});

it('finds the event that another copy of this package kept', async () => {
  vi.resetModules();
  const other = await import('../src/internal.js');
  const request = {};
  const event = await proven();
  other.keepEvent(request, event);
  expect(webhookEvent(request)).toBe(event);
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
