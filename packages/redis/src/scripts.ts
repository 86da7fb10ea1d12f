/**
 * What happens on Redis, each in one atomic step. The scripts of an event have two keys, in one hash slot of a cluster:
 *
 * - KEYS[1], the state: `lease:<id>` with an expiry, or `done:<id>` for ever;
 * - KEYS[2], the fence: the last fencing token that was given out. Deleted when the event is done.
 *
 * Those of a turn have one: the id of the run that has the turn, with an expiry.
 *
 * Each may run twice with the same id, because a client sends a command again when a broken connection took the reply.
 */
import { createHash } from 'node:crypto';

export interface Script {
  readonly text: string;
  readonly sha1: string;
}

/**
 * ARGV: id, milliseconds. Gives `done`, `busy`, or the fencing token of a new lease.
 *
 * A token is Redis's own time in microseconds, or one more than the last token where that is larger: so it grows from each run
 * of an order to the next, also between events of one order and after Redis has lost its memory.
 */
export const ACQUIRE = script(`
local state = redis.call('GET', KEYS[1])
if state and string.sub(state, 1, 5) == 'done:' then return 'done' end
if state and state ~= 'lease:' .. ARGV[1] then return 'busy' end
local now = redis.call('TIME')
local last = tonumber(redis.call('GET', KEYS[2]) or '0')
local token = string.format('%.0f', math.max(now[1] * 1000000 + now[2], last + 1))
redis.call('SET', KEYS[2], token)
redis.call('SET', KEYS[1], 'lease:' .. ARGV[1], 'PX', ARGV[2])
return token
`);

/** ARGV: id, milliseconds, token. A lease that ran out is taken again as long as no other run has had one since. */
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

/** ARGV: id. Uses up the next token too, so that no late command of this lease can take it again. */
export const RELEASE = script(`
if redis.call('GET', KEYS[1]) == 'lease:' .. ARGV[1] then
  redis.call('DEL', KEYS[1])
  redis.call('INCR', KEYS[2])
end
return 'released'
`);

/** ARGV: id, milliseconds. Gives `held` or `busy`. */
export const TAKE_TURN = script(`
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 'held' end
return redis.call('GET', KEYS[1]) == ARGV[1] and 'held' or 'busy'
`);

/** ARGV: id, milliseconds. A turn that ran out is lost: another run may have had it since. */
export const RENEW_TURN = script(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'lost' end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 'held'
`);

/** ARGV: id. */
export const END_TURN = script(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 'ended'
`);

function script(text: string): Script {
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}
