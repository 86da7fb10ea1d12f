/**
 * What happens on Redis, each in one atomic step. All of them have two keys, in one hash slot of a cluster:
 *
 * - KEYS[1], the state: `lease:<id>` with an end, or `done:<id>` for ever;
 * - KEYS[2], the fence: the last fencing token that was given out. Gone once the key is done.
 *
 * Each may run twice with the same id, because a client sends a command again whose reply a broken connection took.
 */
import { createHash } from 'node:crypto';

export interface Script {
  readonly text: string;
  readonly sha1: string;
}

/**
 * ARGV: id, milliseconds. Gives `done`, `busy`, or the fencing token of a new lease.
 *
 * The first token is Redis's own time in microseconds, so that tokens also grow when Redis has lost its memory in between.
 */
export const ACQUIRE = script(`
local state = redis.call('GET', KEYS[1])
if state and string.sub(state, 1, 5) == 'done:' then return 'done' end
if state and state ~= 'lease:' .. ARGV[1] then return 'busy' end
if redis.call('EXISTS', KEYS[2]) == 1 then
  redis.call('INCR', KEYS[2])
else
  local now = redis.call('TIME')
  redis.call('SET', KEYS[2], now[1] .. string.format('%06d', now[2]))
end
redis.call('SET', KEYS[1], 'lease:' .. ARGV[1], 'PX', ARGV[2])
return redis.call('GET', KEYS[2])
`);

/** ARGV: id, milliseconds, token. A lease that ran out is taken up again as long as nobody else has had one since. */
export const RENEW = script(`
local state = redis.call('GET', KEYS[1])
if state == 'lease:' .. ARGV[1] or (not state and redis.call('GET', KEYS[2]) == ARGV[3]) then
  redis.call('SET', KEYS[1], 'lease:' .. ARGV[1], 'PX', ARGV[2])
  return 'held'
end
return 'lost'
`);

/** ARGV: id, token. The done mark, only while the token is the last that was given out. */
export const FINISH = script(`
local state = redis.call('GET', KEYS[1])
if state == 'done:' .. ARGV[1] then return 'done' end
if state == 'lease:' .. ARGV[1] or (not state and redis.call('GET', KEYS[2]) == ARGV[2]) then
  redis.call('SET', KEYS[1], 'done:' .. ARGV[1])
  redis.call('DEL', KEYS[2])
  return 'done'
end
return 'lost'
`);

/** ARGV: id. The next token is taken too, so that nothing of this lease that arrives late can take it up again. */
export const RELEASE = script(`
if redis.call('GET', KEYS[1]) == 'lease:' .. ARGV[1] then
  redis.call('DEL', KEYS[1])
  redis.call('INCR', KEYS[2])
end
return 'released'
`);

function script(text: string): Script {
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}
