/** Runs the store's commands on both client libraries: single, clustered or behind Sentinel. */
import { check } from '@paylink/core/internal';

/** The part of ioredis (5 and later) that the store uses. A `Cluster` fits too. */
export interface IoredisClient {
  get(key: string): Promise<string | null>;
  set(key: string, value: string): Promise<unknown>;
  eval(script: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
  /** Distinguishes the two libraries. */
  evalsha(...values: never[]): Promise<unknown>;
}

/**
 * The part of node-redis (4.7 and later) that the store uses. A cluster, a pool and a Sentinel fit
 * too.
 */
export interface NodeRedisClient {
  get(key: string): Promise<unknown>;
  set(key: string, value: string): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  evalSha(...values: never[]): Promise<unknown>;
}

export type RedisClient = IoredisClient | NodeRedisClient;

const UPSTASH =
  'is @upstash/redis, which speaks HTTP. Use ioredis with the rediss:// URL of the database';
const OTHER =
  'must be a client of ioredis (new Redis()) or of node-redis (createClient(), connected)';

/** @throws ConfigurationError if the client belongs to neither library */
export function checkClient(client: RedisClient): void {
  const shape = Object(client) as Readonly<Record<string, unknown>>;
  const has = (name: string): boolean => typeof shape[name] === 'function';
  check(!has('createScript'), 'client', UPSTASH);
  const isClient = ['get', 'set', 'eval'].every(has) && (has('evalsha') || has('evalSha'));
  check(isClient, 'client', OTHER);
}

/** Runs a script atomically on Redis and returns its reply. */
export async function runScript(
  client: RedisClient,
  script: string,
  keys: string[],
  values: string[],
) {
  if ('evalsha' in client)
    return textOf(await client.eval(script, keys.length, ...keys, ...values));
  return textOf(await client.eval(script, { keys, arguments: values }));
}

/**
 * Returns a reply as text. Clients can be configured to return bytes for strings, and strings for
 * numbers.
 */
export function textOf(reply: unknown): string {
  return ((reply ?? '') as Buffer | string | number).toString();
}
