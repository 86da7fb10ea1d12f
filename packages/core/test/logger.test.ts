import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebhookError } from '../src/index.js';
import { checkSignal, createLogger } from '../src/internal.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** A logger that keeps the calls of its methods, with the mark by which its kind is known. */
function openLogger(mark: object = {}) {
  const calls: unknown[][] = [];
  function write(this: unknown, ...values: unknown[]): void {
    if (this === own) calls.push(values);
  }
  const own = { warn: write, error: write, ...mark };
  return { calls, logger: createLogger(own) };
}

const cause = Object.assign(new TypeError('no database'), { apiKey: 'sk_live_a.b' });
const refused = new WebhookError('orders_unavailable', { cause });
const fields = { code: 'orders_unavailable', reference: 'order-1', error: refused };

describe('a logger', () => {
  it('receives the message and the fields, with the error, by a call of its method', async () => {
    const { calls, logger } = openLogger();
    logger.error('failed', fields);
    await vi.waitFor(() => expect(calls).toEqual([['failed', fields]]));
  });

  it('receives the fields first if it is from pino, Fastify or bunyan, with the stack as text', async () => {
    const { calls, logger } = openLogger({ child: () => undefined });
    logger.error('failed', fields);
    await vi.waitFor(() => expect(calls).toHaveLength(1));
    const [entry, message] = calls[0] as [Record<string, unknown>, string];
    expect(message).toBe('failed');
    expect(entry).toMatchObject({ code: 'orders_unavailable', reference: 'order-1' });
    expect(entry['stack']).toMatch(/^TypeError: no database\n/);
    expect(JSON.stringify(entry)).not.toContain('sk_live_');
    expect(entry['error']).toBeUndefined();
  });

  it('receives the fields last if it is from winston', async () => {
    const { calls, logger } = openLogger({ child: () => undefined, configure: () => undefined });
    logger.warn('failed', fields);
    await vi.waitFor(() => expect(calls).toHaveLength(1));
    expect(calls[0]).toEqual(['failed', expect.objectContaining({ code: 'orders_unavailable' })]);
    expect(calls[0]![1]).toHaveProperty('error', undefined);
  });

  it('prints the stack of a cause once per code and minute on the console', async () => {
    const printed = vi.spyOn(console, 'error').mockReturnValue();
    const logger = createLogger();
    const stacks = () => printed.mock.calls.filter(([line]) => String(line).includes('TypeError'));
    // An error without a cause takes no turn.
    logger.error('failed', { ...fields, error: new WebhookError('orders_unavailable') });
    for (let times = 0; times < 3; times++) logger.error('failed', fields);
    await vi.advanceTimersByTimeAsync(0);
    expect(printed).toHaveBeenCalledTimes(4);
    expect(stacks()).toHaveLength(1);
    logger.error('failed', { ...fields, code: 'handler_timeout' });
    await vi.advanceTimersByTimeAsync(60_000);
    logger.error('failed', fields);
    await vi.advanceTimersByTimeAsync(0);
    expect(stacks()).toHaveLength(3);
  });

  it('prints the message alone if the cause cannot be read', async () => {
    const printed = vi.spyOn(console, 'error').mockReturnValue();
    const hostile = new WebhookError('orders_unavailable');
    Object.defineProperty(hostile, 'cause', {
      get() {
        throw new Error('unreadable');
      },
    });
    createLogger().error('failed', { ...fields, error: hostile });
    createLogger().error('failed', { code: 'orders_unavailable' });
    await vi.advanceTimersByTimeAsync(0);
    expect(printed.mock.calls).toEqual([['failed'], ['failed']]);
  });
});

describe('checkSignal', () => {
  it.each([undefined, new AbortController().signal])('accepts %o', (signal) => {
    expect(() => checkSignal(signal)).not.toThrow();
  });

  it.each([null, {}, 'signal', { aborted: false }, { addEventListener: () => undefined }])(
    'refuses %o',
    (signal) => {
      expect(() => checkSignal(signal)).toThrow('signal must be an AbortSignal');
    },
  );
});
