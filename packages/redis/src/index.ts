export { redisStore, type RedisScope, type RedisStoreOptions } from './redis-store.js';
