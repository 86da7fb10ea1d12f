/**
 * The lease of a turn, each step atomic on Redis. Two keys, in one hash slot of a cluster:
 *
 * - KEYS[1], the lease: the id of the run that has it, with an expiry
 * - KEYS[2], the fence: the last fencing token, for an hour.
 *
 * Each script may run twice with the same id, because a client sends a command again if a broken
 * connection took the reply.
 */

/**
 * ARGV: id, milliseconds. Gives `busy`, or the fencing token of a new lease: Redis's own time in
 * microseconds, or one more than the last token if that is larger. So a token is larger than the
 * tokens before it, also after Redis has lost its memory.
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

/** ARGV: id, milliseconds, token. Takes a lapsed lease again if no other run has had it since. */
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
