export { redisStore, type RedisScope, type RedisStoreOptions } from './redis-store.js';
export type { IoredisClient, NodeRedisClient, RedisClient } from './client.js';
