import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { Aborts } from '../src/aborts.js';
import type { PgClient, PgPool } from '../src/options.js';
import { PoolPlaces, stopListening, takeClient } from '../src/pool-connection.js';

/** A pool as far as it shows itself: what it does is tested on real ones. */
function poolOf(counts: object = {}): PgPool & EventEmitter {
  return Object.assign(new EventEmitter(), counts) as unknown as PgPool & EventEmitter;
}

const enter = (places: PoolPlaces, signal = new AbortController().signal): Promise<string> =>
  Aborts.during({ signal }, async (aborts) => places.enter(aborts)).then(
    () => 'in',
    (error: unknown) => (error as Error).message,
  );
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the connections that transactions of stores may hold', () => {
  it('are as many as the pool has, given to those that wait in their order', async () => {
    const places = PoolPlaces.of(poolOf({ options: { max: 2 } }));
    const order: number[] = [];
    const runs = [0, 1, 2, 3].map((number) => enter(places).then(() => order.push(number)));
    await turn();
    expect(order).toEqual([0, 1]);
    places.leave();
    await turn();
    expect(order).toEqual([0, 1, 2]);
    places.leave();
    await Promise.all(runs);
    expect(order).toEqual([0, 1, 2, 3]);
  });

  it('are without a limit where the pool shows none', async () => {
    const places = PoolPlaces.of(poolOf());
    expect(await Promise.all(Array.from({ length: 100 }, () => enter(places)))).toEqual(Array(100).fill('in'));
    expect([places.leaveOne(), places.starvesOthers, places.exhaustion()]).toEqual([undefined, false, undefined]);
  });

  it('are not given to a run that was aborted while it waited, nor lost by it', async () => {
    const places = PoolPlaces.of(poolOf({ options: { max: 1 } }));
    await enter(places);
    const controller = new AbortController();
    const aborted = enter(places, controller.signal);
    const next = enter(places);
    const behind = enter(places, controller.signal);
    controller.abort(new Error('its time is over'));
    expect(await Promise.all([aborted, behind])).toEqual(['its time is over', 'its time is over']);
    // They had none to give back.
    expect(await Promise.race([next, turn().then(() => 'waits')])).toBe('waits');
    places.leave();
    expect(await next).toBe('in');
    // In the moment in which it is given one.
    const late = new AbortController();
    const inTheMoment = enter(places, late.signal);
    await turn();
    places.leave();
    late.abort(new Error('too late'));
    expect(await inTheMoment).toBe('too late');
    expect(await enter(places)).toBe('in');
  });

  it('are one less, and one at least, from the moment on in which a handler needs another', async () => {
    const places = PoolPlaces.of(poolOf({ options: { max: 3 } }));
    await Promise.all([enter(places), enter(places), enter(places)]);
    expect(places.leaveOne()).toBe(2);
    const waiting = enter(places).then(() => 'woken');
    places.leave();
    await turn();
    expect(await Promise.race([waiting, Promise.resolve('waits')])).toBe('waits');
    places.leave();
    expect(await waiting).toBe('woken');
    const single = PoolPlaces.of(poolOf({ options: { max: 1 } }));
    expect([single.leaveOne(), await enter(single)]).toEqual([1, 'in']);
  });

  it('are counted once for all stores on a pool', () => {
    const pool = poolOf();
    expect(PoolPlaces.of(pool)).toBe(PoolPlaces.of(pool));
    expect(PoolPlaces.of(pool)).not.toBe(PoolPlaces.of(poolOf()));
  });

  it('starve others when they are all held and a request waits', async () => {
    const pool = poolOf({ options: { max: 1 }, waitingCount: 1 });
    const places = PoolPlaces.of(pool);
    expect(places.starvesOthers).toBe(false);
    await enter(places);
    expect(places.starvesOthers).toBe(true);
    Object.assign(pool, { waitingCount: 0 });
    expect(places.starvesOthers).toBe(false);
    const silent = PoolPlaces.of(poolOf({ options: { max: 1 } }));
    await enter(silent);
    expect(silent.starvesOthers).toBe(false);
  });
});

describe('what is seen of the connections of a pool', () => {
  it('changes with each that was removed, and with each attempt that failed', () => {
    const pool = poolOf();
    const places = PoolPlaces.of(pool);
    expect(places.lost).toBe(0);
    pool.emit('remove');
    expect(places.lost).toBe(1);
    const fault = new Error('refused');
    expect(places.failed(fault)).toBe(fault);
    expect(places.lost).toBe(2);
    expect(places.failed({ code: '42P01' })).toMatchObject({ cause: { code: '42P01' } });
    expect(places.lost).toBe(3);
    expect(PoolPlaces.of({} as PgPool).lost).toBeUndefined();
  });

  it('says that the pool is exhausted where no connection is free, and then only', async () => {
    const pool = poolOf({ options: { max: 2 }, totalCount: 2, idleCount: 0, waitingCount: 3 });
    const places = PoolPlaces.of(pool);
    await enter(places);
    const exhausted =
      'the pool is exhausted: all 2 connections are in use, 1 of them by transactions of the store, and 3 requests wait for one';
    expect(places.exhaustion()).toBe(exhausted);
    const late = new Error('timeout exceeded when trying to connect');
    expect(places.failed(late)).toMatchObject({ message: exhausted, cause: late });
    const other = new Error('refused');
    expect(places.failed(other)).toBe(other);
    for (const change of [{ idleCount: 1 }, { idleCount: 0, totalCount: 1 }]) {
      Object.assign(pool, change);
      expect(places.exhaustion()).toBeUndefined();
      expect(places.failed(late)).toBe(late);
    }
  });
});

describe('a client of a pool', () => {
  const clientOf = (): PgClient & EventEmitter => new EventEmitter() as unknown as PgClient & EventEmitter;
  type Done = (error?: Error, client?: PgClient) => void;
  const byCallback = (...answer: Parameters<Done>): PgPool => ({ connect: (done: Done) => done(...answer) }) as unknown as PgPool;

  it('is taken by callback or by promise, and its errors end no process from the first moment on', async () => {
    for (const give of [
      (client: PgClient) => byCallback(undefined, client),
      (client: PgClient) => poolOf({ connect: async () => client }),
    ]) {
      const client = clientOf();
      const taking = takeClient(give(client));
      expect(await taking).toBe(client);
      client.emit('error', new Error('the server closed the connection'));
      stopListening(client);
      expect(client.listenerCount('error')).toBe(0);
    }
    const client = clientOf();
    void takeClient(byCallback(undefined, client));
    expect(client.listenerCount('error')).toBe(1);
    stopListening({ on: () => undefined } as unknown as PgClient);
  });

  it('is an error where the pool gives none, with the pool’s own reason if it has one', async () => {
    const refused = new Error('too many clients');
    await expect(takeClient(byCallback(refused))).rejects.toBe(refused);
    await expect(takeClient(byCallback())).rejects.toThrow('the pool gave no client');
    await expect(takeClient(poolOf({ connect: () => Promise.reject(refused) }))).rejects.toBe(refused);
  });
});
