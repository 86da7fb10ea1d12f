import { describe, expect, it, vi } from 'vitest';
import { Aborts } from '../src/aborts.js';
import { guard, guardClient, guardTransaction, lend } from '../src/guards.js';
import { WrittenRows } from '../src/handler-writes.js';
import type { PgClient } from '../src/options.js';

const OVER = 'the transaction is over';

describe('a guard', () => {
  it('passes reads, writes and calls on to its target, until it is closed', () => {
    const target = { count: 1, read: () => target.count };
    const guarded = guard(target);
    const { read } = guarded.target;
    guarded.target.count = 2;
    expect([guarded.target.count, read(), target.count]).toEqual([2, 2, 2]);
    guarded.close();
    expect(() => guarded.target.count).toThrow(OVER);
    expect(() => (guarded.target.count = 3)).toThrow(OVER);
    // Also what was taken from it before.
    expect(() => read()).toThrow(OVER);
    expect(target.count).toBe(2);
  });

  it('is a function where its target is one, as the transactions of some drivers are', () => {
    const target = vi.fn((...parts: unknown[]) => parts.length);
    const guarded = guard(target);
    expect(guarded.target('SELECT', 1)).toBe(2);
    expect(target).toHaveBeenCalledExactlyOnceWith('SELECT', 1);
    guarded.close();
    expect(() => guarded.target('SELECT', 1)).toThrow(OVER);
    expect(target).toHaveBeenCalledOnce();
  });

  it('keeps what is private to its target within reach of its methods', () => {
    class Client {
      readonly #id = 7;
      id(): number {
        return this.#id;
      }
      chained(): this {
        return this;
      }
    }
    const guarded = guard(new Client());
    const chained = guarded.target.chained();
    expect(chained.id()).toBe(7);
    guarded.close();
    expect(() => chained.id()).toThrow(OVER);
  });

  it('can be what a promise resolves with, open or closed', async () => {
    const guarded = guard({ id: 7 });
    const { target } = guarded;
    expect((await Promise.resolve(target)).id).toBe(7);
    guarded.close();
    expect(await Promise.resolve(target)).toBe(target);
  });

  it('waits for what its target promises, where that is a promise itself', async () => {
    expect(await guard(Promise.resolve('rows')).target).toBe('rows');
  });

  it('says why it was closed, and calls back only for what is used after a good end', () => {
    const reason = new Error('its time was over');
    const onLateUse = vi.fn();
    const [failed, ended, silent] = [guard({ id: 7 }, { onLateUse }), guard({ id: 7 }, { onLateUse }), guard({ id: 7 })];
    failed.close(reason);
    // The first reason counts: a handler may fail because its time was over.
    failed.close();
    expect(() => failed.target.id).toThrow(expect.objectContaining({ cause: reason }) as Error);
    expect(onLateUse).not.toHaveBeenCalled();
    ended.close();
    expect(() => ended.target.id).toThrow(OVER);
    expect(onLateUse).toHaveBeenCalledOnce();
    silent.close();
    expect(() => silent.target.id).toThrow(OVER);
  });
});

describe('what is lent to a handler', () => {
  const lendTo = (
    guarded: ReturnType<typeof guard<{ id: number }>>,
    work: () => Promise<void>,
    controller = new AbortController(),
  ) => Aborts.during(controller, (aborts) => lend(guarded, work, aborts));

  it.each([undefined, new Error('no stock')])('is taken back without a word when the handler fails with %s', async (error) => {
    const onLateUse = vi.fn();
    const guarded = guard({ id: 7 }, { onLateUse });
    const failed = vi.fn();
    await lendTo(guarded, () => Promise.reject(error)).catch(failed);
    expect(failed).toHaveBeenCalledExactlyOnceWith(error);
    expect(() => guarded.target.id).toThrow(OVER);
    expect(onLateUse).not.toHaveBeenCalled();
  });

  it('is taken back when the handler ends, and in the moment of an abort', async () => {
    const ended = guard({ id: 7 });
    await lendTo(ended, () => Promise.resolve());
    expect(() => ended.target.id).toThrow(OVER);

    const aborted = guard({ id: 7 });
    const controller = new AbortController();
    const lending = lendTo(aborted, () => new Promise(() => undefined), controller);
    expect(aborted.target.id).toBe(7);
    const reason = new Error('its time is over');
    controller.abort(reason);
    expect(() => aborted.target.id).toThrow(expect.objectContaining({ cause: reason }) as Error);
    await expect(lending).rejects.toBe(reason);
  });
});

describe('the client of `pg` that a handler gets', () => {
  const clientOf = () => {
    const client = {
      query: vi.fn(() => Promise.resolve('rows')),
      release: vi.fn(),
      end: vi.fn<() => void>(),
      connect: vi.fn<() => void>(),
      on: vi.fn(),
    };
    const rows = new WrittenRows();
    const guarded = guardClient(client as unknown as PgClient, rows, () => undefined);
    return { client, rows, tx: guarded.target as unknown as typeof client };
  };

  it('is not given back, ended or connected by it', () => {
    const { client, tx } = clientOf();
    expect(tx.release()).toBeUndefined();
    expect(() => tx.end()).toThrow('tx.end()');
    expect(() => tx.connect()).toThrow('tx.connect()');
    for (const method of [client.release, client.end, client.connect]) expect(method).not.toHaveBeenCalled();
  });

  it('sends no statement that would end the transaction, and counts what it sends', async () => {
    const { client, rows, tx } = clientOf();
    const query = tx.query as unknown as (...values: unknown[]) => Promise<unknown>;
    expect(() => query('COMMIT')).toThrow('SAVEPOINT');
    expect([rows.used, rows.pending]).toEqual([false, 0]);
    expect(await query('SELECT $1', [1])).toBe('rows');
    expect(client.query).toHaveBeenCalledExactlyOnceWith('SELECT $1', [1]);
    expect([rows.used, rows.pending]).toEqual([true, 1]);
  });
});

describe('the transaction of a driver that a handler gets', () => {
  const update = 'UPDATE orders SET paid = true';
  type Query = (...values: unknown[]) => Promise<unknown>;
  const pglite = (answer: unknown) => {
    const query = vi.fn<Query>(() => Promise.resolve(answer));
    return { query, sql: query, exec: query, rollback: () => undefined };
  };
  const guarded = <Tx extends object>(tx: Tx) => {
    const rows = new WrittenRows();
    return { rows, tx: guardTransaction(tx, rows, () => undefined).target };
  };

  it.each<[string, object, boolean]>([
    ['of no row', { command: 'UPDATE', rowCount: 0, rows: [] }, true],
    ['of a changed row', { command: 'UPDATE', rowCount: 1, rows: [] }, false],
    ['of returned rows, where it counts none', { command: 'UPDATE', rows: [{}] }, false],
    ['of no returned row, where it counts none', { command: 'UPDATE', rows: [] }, true],
    ['without a command, of an older PGlite', { rows: [] }, false],
  ])('tells what it wrote by an answer %s, where it is one of PGlite', async (_, answer, nothing) => {
    for (const name of ['query', 'sql', 'exec'] as const) {
      const { rows, tx } = guarded(pglite(name === 'exec' ? [answer] : answer));
      expect(await tx[name](update)).toEqual(name === 'exec' ? [answer] : answer);
      expect([rows.used, rows.nothing]).toEqual([true, nothing]);
      await expect(tx[name]('COMMIT')).rejects.toThrow('SAVEPOINT');
    }
  });

  it('tells only that it was used, where it is one of an ORM', async () => {
    for (const missing of ['query', 'sql', 'exec', 'rollback'] as const) {
      const { rows, tx } = guarded({ ...pglite('what an ORM answers'), [missing]: undefined });
      const name = missing === 'query' ? 'exec' : 'query';
      expect(rows.used).toBe(false);
      expect(await tx[name](update)).toBe('what an ORM answers');
      expect([rows.used, rows.nothing]).toEqual([true, false]);
    }
  });
});
