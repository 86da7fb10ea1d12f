import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Aborts } from '../src/aborts.js';
import { explained, withRetries } from '../src/database.js';
import { neverAborted } from './shop.js';

const serialization = Object.assign(new Error('could not serialize access'), { code: '40001' });

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  vi.restoreAllMocks();
});

function tried<T>(signal: AbortSignal, attempt: () => Promise<T>): Promise<T> {
  return Aborts.during({ signal }, (aborts) => withRetries(aborts, attempt));
}

/** An error with so many others around it. */
function wrapped(times: number): unknown {
  return times === 0 ? serialization : Object.assign(new Error('of the ORM', { cause: wrapped(times - 1) }));
}

describe('a transaction that the server has rolled back in favour of another', () => {
  it.each<[string, unknown]>([
    ['a serialisation failure', serialization],
    ['a deadlock', { code: '40P01' }],
    ['one that Prisma wrapped', { code: 'P2034', originalCode: '40001' }],
    ['one that an adapter of Prisma wrapped', { code: 'P2010', meta: { driverAdapterError: { cause: serialization } } }],
    ['one that a handler wrapped seven times', wrapped(7)],
  ])('is run again, three times at most: %s', async (_, error) => {
    const attempt = vi.fn(() => Promise.reject(error as Error));
    expect(await tried(neverAborted, attempt).catch((thrown: unknown) => thrown)).toBe(error);
    expect(attempt).toHaveBeenCalledTimes(3);
    attempt.mockClear().mockRejectedValueOnce(error);
    attempt.mockResolvedValueOnce('done' as never);
    expect(await tried<unknown>(neverAborted, attempt)).toBe('done');
    expect(attempt).toHaveBeenCalledTimes(2);
  });

  it('is run again after a pause, and then after one of twice the time', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(4);
    const at: number[] = [];
    const attempt = (): Promise<never> => {
      at.push(performance.now());
      return Promise.reject(serialization);
    };
    await expect(tried(neverAborted, attempt)).rejects.toBe(serialization);
    // A timer may come late, but no more than a millisecond early.
    expect(at[1]! - at[0]!).toBeGreaterThan(98);
    expect(at[2]! - at[1]!).toBeGreaterThan(198);
  });

  it.each<[string, unknown]>([
    ['another error of the server', { code: '23505' }],
    ['one that was wrapped eight times', wrapped(8)],
    ['nothing', undefined],
    ['null', null],
    ['a text', '40001'],
    ['an error of Prisma with no details', { code: 'P2010', meta: null }],
    ['one that is its own cause', ((error: { cause?: unknown }) => (error.cause = error))({})],
  ])('is not: %s', async (_, error) => {
    const attempt = vi.fn(() => Promise.reject(error as Error));
    expect(await tried(neverAborted, attempt).catch((thrown: unknown) => thrown)).toBe(error);
    expect(attempt).toHaveBeenCalledOnce();
  });

  it('is not run again after its time: neither one that failed then, nor one that waits', async () => {
    const over = new Error('its time is over');
    const controller = new AbortController();
    const late = vi.fn(() => {
      controller.abort(over);
      return Promise.reject(serialization);
    });
    await expect(tried(controller.signal, late)).rejects.toBe(serialization);
    expect(late).toHaveBeenCalledOnce();

    vi.spyOn(Math, 'random').mockReturnValue(100);
    const waiting = new AbortController();
    const attempt = vi.fn(() => {
      setImmediate(() => waiting.abort(over));
      return Promise.reject(serialization);
    });
    await expect(tried(waiting.signal, attempt)).rejects.toBe(over);
    expect(attempt).toHaveBeenCalledOnce();
  });
});

describe('an error of the store’s own statements', () => {
  it.each([
    ['42P01', 'the table of the marks is missing'],
    ['3F000', 'the schema of the marks is missing'],
    ['42883', 'PostgreSQL 13 or newer'],
    ['25P02', 'nothing was committed'],
    ['22012', 'ended the transaction of the store'],
  ])('%s says what to do, and has the driver’s error as its cause', async (code, advice) => {
    const error = Object.assign(new Error('of the driver'), { code });
    await expect(explained(Promise.reject(error))).rejects.toMatchObject({
      message: expect.stringContaining(advice) as string,
      cause: error,
    });
  });

  it('says what to do where an ORM has wrapped it', async () => {
    const error = Object.assign(new Error('of the ORM'), { code: 'P2010', meta: { driverAdapterError: { code: '42P01' } } });
    await expect(explained(Promise.reject(error))).rejects.toMatchObject({
      message: expect.stringContaining('store.migrate()') as string,
      cause: error,
    });
  });

  it('is as it was where there is nothing to say', async () => {
    for (const error of [Object.assign(new Error('x'), { code: '57P01' }), new Error('y'), undefined]) {
      expect(await explained(Promise.reject(error!)).catch((reason: unknown) => reason)).toBe(error);
    }
    expect(await explained(Promise.resolve('rows'))).toBe('rows');
  });
});
