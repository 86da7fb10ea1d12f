/** The commands of the store on both client libraries, ioredis and node-redis: single, clustered or behind Sentinel. */
import { ConfigurationError } from '@paylink/core/idempotency';
import type { Script } from './scripts.js';

/** The part of ioredis (5 and later) that is used; a `Cluster` has it too. */
export interface IoredisClient {
  get(key: string): Promise<string | null>;
  eval(script: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
  evalsha(sha1: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** The part of node-redis (4.7 and later) that is used; a cluster, a pool and a Sentinel have it too. */
export interface NodeRedisClient {
  get(key: string): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  evalSha(sha1: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

export type RedisClient = IoredisClient | NodeRedisClient;

/** What the store needs of Redis, on either library. */
export interface Commands {
  /** The value, or an empty string where the key does not exist. */
  get(key: string): Promise<string>;
  /** Runs a script atomically on Redis. Its reply is a string. */
  run(script: Script, keys: string[], values: string[]): Promise<string>;
}

/** @throws ConfigurationError when it is a client of neither library. */
export function commandsOf(client: RedisClient): Commands {
  const { byText, byDigest } = callsOf(client);
  return {
    async get(key) {
      return textOf((await client.get(key)) ?? '');
    },
    async run(script, keys, values) {
      const reply: unknown = await byDigest(script.sha1, keys, values).catch((error: unknown) => {
        // A Redis that was restarted, or a replica that took over, has never seen the script.
        if (error instanceof Error && error.message.startsWith('NOSCRIPT')) return byText(script.text, keys, values);
        throw error;
      });
      return textOf(reply);
    },
  };
}

/** A client can be set to give bytes in place of strings, and strings in place of numbers. */
function textOf(reply: unknown): string {
  return (reply as Buffer | string | number).toString();
}

type Call = (script: string, keys: string[], values: string[]) => Promise<unknown>;

function callsOf(client: RedisClient): { readonly byText: Call; readonly byDigest: Call } {
  const shape = client as Partial<IoredisClient & NodeRedisClient> | null | undefined;
  const isClient = typeof shape?.get === 'function' && typeof shape.eval === 'function';
  if (isClient && typeof shape.evalsha === 'function') {
    const redis = client as IoredisClient;
    return {
      byText: (script, keys, values) => redis.eval(script, keys.length, ...keys, ...values),
      byDigest: (script, keys, values) => redis.evalsha(script, keys.length, ...keys, ...values),
    };
  }
  if (isClient && typeof shape.evalSha === 'function') {
    const redis = client as NodeRedisClient;
    return {
      byText: (script, keys, values) => redis.eval(script, { keys, arguments: values }),
      byDigest: (script, keys, values) => redis.evalSha(script, { keys, arguments: values }),
    };
  }
  throw new ConfigurationError('client', 'must be a client of ioredis (new Redis()) or of node-redis (createClient(), connected)');
}
