import { describe, expect, it, vi } from 'vitest';
import { ConfigurationError, createReceiver, memoryStore, type PaymentSource } from '../src/index.js';
import { deliver, received, secret } from './deliver.js';

const source = { getPayment: async (reference: string) => ({ reference, status: 'success' }) };
const unavailable = { status: 503, body: '{"error":"confirm_unavailable"}' };

describe('confirm as a function', () => {
  it('makes its client at the first payment, and only then', async () => {
    const confirm = vi.fn(() => source);
    const handler = vi.fn();
    const receiver = createReceiver({ secret, confirm, idempotency: memoryStore() }, handler);
    expect(confirm).not.toHaveBeenCalled();
    expect(await receiver.receive(deliver({ type: 'payment.refunded' }), {})).toMatchObject(received);
    expect(confirm).not.toHaveBeenCalled();
    for (const reference of ['order-1', 'order-2', 'order-1']) {
      expect(await receiver.receive(deliver({ reference }), {})).toMatchObject(received);
    }
    expect(confirm).toHaveBeenCalledOnce();
    expect(handler.mock.calls).toMatchObject([
      [{ reference: 'order-1' }, { payment: { reference: 'order-1', status: 'success' } }],
      [{ reference: 'order-2' }, { payment: { reference: 'order-2', status: 'success' } }],
    ]);
  });

  it('answers 503 while it fails, says why in the log, and is called again by the next delivery', async () => {
    const environment = { apiKey: '' };
    const confirm = (): typeof source => {
      if (environment.apiKey === '') throw new ConfigurationError('apiKey', 'is missing: is its environment variable set?');
      return source;
    };
    const logger = { warn: vi.fn(), error: vi.fn() };
    const handler = vi.fn();
    const receiver = createReceiver({ secret, confirm, logger }, handler);
    expect(await receiver.receive(deliver(), {})).toMatchObject(unavailable);
    expect(handler).not.toHaveBeenCalled();
    expect(logger.error).toHaveBeenCalledWith(expect.stringContaining('apiKey is missing'));
    environment.apiKey = 'set';
    expect(await receiver.receive(deliver(), {})).toMatchObject(received);
    expect(handler).toHaveBeenCalledOnce();
  });

  it.each([
    ['nothing', undefined],
    ['a promise', Promise.resolve(source)],
    ['an object without getPayment', {}],
  ])('answers 503 where it gives %s', async (_, made) => {
    const logger = { warn: vi.fn(), error: vi.fn() };
    const handler = vi.fn();
    const confirm = () => made as unknown as PaymentSource<{ reference: string; status: string }>;
    expect(await createReceiver({ secret, confirm, logger }, handler).receive(deliver(), {})).toMatchObject(unavailable);
    expect(handler).not.toHaveBeenCalled();
    expect(logger.error).toHaveBeenCalledWith(expect.stringContaining('confirm must give what has a function `getPayment`'));
  });

  it.each([{}, null, 'https://service.example', 7])('is refused at set-up as %o', (confirm) => {
    expect(() => createReceiver({ secret, confirm: confirm as never }, () => undefined)).toThrow(
      expect.objectContaining({ option: 'confirm' }) as Error,
    );
  });
});
