import { postgresStore } from '@paylink/postgres';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  codesIn,
  explained,
  finishFailure,
  isWorthRetrying,
  MarkConflict,
} from '../src/transaction.js';

const withCode = (code: string, properties: object = {}): Error =>
  Object.assign(new Error('of the driver'), { code, ...properties });

describe('the codes of an error', () => {
  it.each<readonly [string, unknown, readonly string[]]>([
    ['nothing', undefined, []],
    ['a text', '40001', []],
    ['an error of pg', withCode('40001'), ['40001']],
    ['a code that is a number', Object.assign(new Error(), { code: 40001 }), []],
    ['an error of TypeORM', { driverError: withCode('40P01') }, ['40P01']],
    ['an error of Sequelize', { original: withCode('40P01') }, ['40P01']],
    [
      'an error of Prisma',
      { code: 'P2010', meta: { driverAdapterError: { cause: { originalCode: '23505' } } } },
      ['P2010', '23505'],
    ],
  ])('are found in %s', (_name, error, codes) => {
    expect(codesIn(error)).toEqual(codes);
  });

  it('end for an error that is its own cause, and for one that throws', () => {
    const own: { code: string; cause?: unknown } = { code: 'E' };
    own.cause = own;
    expect(codesIn(own)).toEqual(['E', 'E', 'E', 'E', 'E']);
    expect(
      codesIn(
        new Proxy(
          {},
          {
            get: () => {
              throw new Error('no');
            },
          },
        ),
      ),
    ).toEqual([]);
  });

  it('decide whether a retry can help', () => {
    for (const code of ['40001', '40P01', 'P2034'])
      expect(isWorthRetrying(withCode(code))).toBe(true);
    expect(isWorthRetrying(withCode('23505'))).toBe(false);
  });
});

describe('an error of the store’s own statements', () => {
  it.each([
    ['42P01', 'a table of the store is missing: call `await store.migrate()`'],
    ['3F000', 'the schema of the store is missing: call `await store.migrate()`'],
    ['42883', 'the store needs PostgreSQL 13 or newer'],
  ])('gets advice for %s, also inside another error', (code, advice) => {
    for (const error of [withCode(code), withCode('EORM', { cause: withCode(code) })]) {
      const better = explained(error) as Error;
      expect(better.message).toContain(advice);
      expect(better.cause).toBe(error);
    }
  });

  it('names the reason for each address of a host', () => {
    const reasons = ['::1', '127.0.0.1'].map((address) => new Error(`no answer of ${address}`));
    const error = new AggregateError(reasons);
    expect(explained(error)).toMatchObject({
      message: 'no answer of ::1, no answer of 127.0.0.1',
      cause: error,
    });
    for (const other of [
      new AggregateError(reasons, 'own message'),
      new Error(''),
      withCode('57014'),
    ])
      expect(explained(other)).toBe(other);
  });

  it.each([
    ['22012', 'your code ended the transaction'],
    ['25P02', 'your code continued after a failed statement'],
  ])('means not_credited at the end of a transaction: %s', (code, message) => {
    const cause = withCode(code);
    expect(finishFailure(cause)).toMatchObject({
      code: 'not_credited',
      message: expect.stringContaining(message) as string,
      cause,
    });
  });

  it('means a conflict, or nothing special, at the end of a transaction', () => {
    const taken = withCode('23505');
    expect(finishFailure(taken)).toBeInstanceOf(MarkConflict);
    expect((finishFailure(taken) as Error).cause).toBe(taken);
    const constraint = withCode('23503');
    expect(finishFailure(constraint)).toBe(constraint);
  });
});

describe('a credit on an ORM that ignores its time limit', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is logged after two seconds, because it keeps its connection', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const error = vi.fn();
    const database = {
      transaction: <T>(work: (tx: object) => Promise<T>) => work({}),
      query: (_tx: object | undefined, sql: string) =>
        Promise.resolve(sql.includes('pg_try_advisory') ? [{ state: '7', role: 'none' }] : []),
    };
    const store = postgresStore(database, { schema: 'public', logger: { warn: vi.fn(), error } });
    const controller = new AbortController();
    const options = { signal: controller.signal, turn: 'b'.repeat(64) };
    const begun = vi.fn(() => new Promise<void>(() => undefined));
    const ended = store.run('a'.repeat(64), begun, options).catch(String);
    await vi.waitUntil(() => begun.mock.calls.length > 0);
    controller.abort(new Error('its time is over'));
    expect(await ended).toContain('its time is over');
    await vi.advanceTimersByTimeAsync(1_999);
    expect(error).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(error).toHaveBeenCalledOnce();
    expect(error.mock.calls[0]![0]).toContain('keeps a connection of the pool');
  });
});
