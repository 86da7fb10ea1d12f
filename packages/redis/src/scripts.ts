/**
 * The lease of a turn. Each script is atomic on Redis. Both keys are in one hash slot of a cluster:
 *
 * - KEYS[1], the lease: the id of the run that holds it, with an expiry
 * - KEYS[2], the fence: the last fencing token, for an hour
 *
 * Each script may run twice with the same id, because a client resends a command if a broken
 * connection lost the reply.
 */

/**
 * ARGV: id, milliseconds. Returns `busy`, or the fencing token of a new lease: Redis's time in
 * microseconds, or the last token plus one if that is larger. Tokens therefore grow even if Redis
 * loses its memory.
 */
export const ACQUIRE = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 'busy' end
local now = redis.call('TIME')
local last = tonumber(redis.call('GET', KEYS[2]) or '0')
local token = string.format('%.0f', math.max(now[1] * 1000000 + now[2], last + 1))
redis.call('SET', KEYS[2], token, 'EX', 3600)
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return token
`;

/**
 * ARGV: id, milliseconds, token. Takes an expired lease again if no other run has held it since.
 */
export const RENEW = `
local holder = redis.call('GET', KEYS[1])
if holder == ARGV[1] or (not holder and redis.call('GET', KEYS[2]) == ARGV[3]) then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 'held'
end
return 'lost'
`;

/** ARGV: id. Uses up a token too, so that no late command of this run takes the lease again. */
export const RELEASE = `
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
  redis.call('INCR', KEYS[2])
end
return 'released'
`;
