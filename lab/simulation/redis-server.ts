/**
 * A model of Redis for `redisStore` and a plain lease: expiring strings, and the store's scripts by
 * their texts.
 */
import { ACQUIRE, RELEASE, RENEW } from '../../packages/redis/src/scripts.js';
import type { Life } from './process.js';
import type { World } from './world.js';

interface Entry {
  readonly value: string;
  readonly until: number;
}

export class RedisServer {
  readonly #entries = new Map<string, Entry>();

  constructor(readonly world: World) {}

  get(key: string): string | undefined {
    const entry = this.#entries.get(key);
    return entry === undefined || entry.until <= this.world.time.now ? undefined : entry.value;
  }

  set(key: string, value: string, milliseconds = Infinity): void {
    this.#entries.set(key, { value, until: this.world.time.now + milliseconds });
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  increment(key: string): string {
    const value = String(Number(this.get(key) ?? 0) + 1);
    this.set(key, value);
    return value;
  }

  /** Returns a client like ioredis, over a process's network. */
  clientFor(life: Life) {
    const send = <T>(run: () => T): Promise<T> =>
      new Promise((resolve, reject) => {
        const { time, faults } = this.world;
        const fail = (): void =>
          void time.after(faults.delay(), () => reject(new Error('Connection is closed.')), life);
        if (faults.strikes('cut')) {
          fail();
          return;
        }
        time.after(
          faults.delay(),
          () => {
            const reply = run();
            if (faults.strikes('cut')) fail();
            else time.after(faults.delay(), () => resolve(reply), life);
          },
          null,
        );
      });
    const runScript = (
      text: string,
      keys: readonly string[],
      values: readonly string[],
    ): string => {
      const script = SCRIPTS.get(text);
      if (script === undefined)
        throw new TypeError(`the model of Redis does not know this script: ${text}`);
      return script(this, keys, values);
    };
    return {
      get: (key: string) => send(() => this.get(key) ?? null),
      set: (key: string, value: string, milliseconds?: number) =>
        send(() => this.set(key, value, milliseconds)),
      /** SET NX PX. */
      setIfAbsent: (key: string, value: string, milliseconds: number) =>
        send(() => {
          if (this.get(key) !== undefined) return false;
          this.set(key, value, milliseconds);
          return true;
        }),
      del: (key: string) => send(() => this.delete(key)),
      eval: (text: string, count: number, ...rest: string[]) =>
        send(() => runScript(text, rest.slice(0, count), rest.slice(count))),
      evalsha: (): Promise<never> =>
        Promise.reject(new TypeError('the store sends the texts of its scripts')),
    };
  }
}

type ScriptModel = (
  redis: RedisServer,
  keys: readonly string[],
  values: readonly string[],
) => string;

/** The scripts of `redisStore`, with their Lua line by line. */
const SCRIPTS = new Map<string, ScriptModel>([
  [
    ACQUIRE,
    (redis, [lease, fence], [id, milliseconds]) => {
      const holder = redis.get(lease!);
      if (holder !== undefined && holder !== id) return 'busy';
      const token = String(
        Math.max(Math.floor(redis.world.time.now * 1_000), Number(redis.get(fence!) ?? 0) + 1),
      );
      redis.set(fence!, token, 3_600_000);
      redis.set(lease!, id!, Number(milliseconds));
      return token;
    },
  ],
  [
    RENEW,
    (redis, [lease, fence], [id, milliseconds, token]) => {
      const holder = redis.get(lease!);
      if (holder !== id && !(holder === undefined && redis.get(fence!) === token)) return 'lost';
      redis.set(lease!, id!, Number(milliseconds));
      return 'held';
    },
  ],
  [
    RELEASE,
    (redis, [lease, fence], [id]) => {
      if (redis.get(lease!) === id) {
        redis.delete(lease!);
        redis.increment(fence!);
      }
      return 'released';
    },
  ],
]);
