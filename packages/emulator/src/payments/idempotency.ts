import { EmulatorError } from '../base/emulator-error.js';
import type { Assumed } from '../contract/assumed.js';

const REPLAYS = {
  same_link: 201,
  same_link_200: 200,
  ignore: undefined,
  refuse: 'idempotency_conflict',
} as const;

/**
 * Decides the response to a request whose Idempotency-Key was used before: the stored body with a
 * status, or undefined for a new link.
 *
 * @param isSame whether the earlier request under the key had the same fields
 * @throws EmulatorError if `assumed` rejects the key
 */
export function replay(isSame: boolean, assumed: Assumed): 200 | 201 | undefined {
  const answer = REPLAYS[isSame ? assumed.replayedKey : assumed.replayedKeyOtherBody];
  if (typeof answer !== 'string') return answer;
  const use = isSame ? 'before' : 'for another request';
  throw new EmulatorError(answer, `this Idempotency-Key was used ${use}`);
}
