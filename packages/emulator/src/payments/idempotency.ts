import { EmulatorError } from '../base/emulator-error.js';
import type { Assumed } from '../contract/assumed.js';

/** The response to a repeated key: the stored body with a status, or undefined for a new link. */
export type Replay = 200 | 201 | undefined;

const REFUSALS = {
  refuse: 'idempotency_conflict',
  in_flight: 'idempotency_in_flight',
  unprocessable: 'idempotency_mismatch',
  fail: 'replay_failed',
} as const;

/**
 * Decides the response to a request whose Idempotency-Key was used before.
 *
 * @param isSame whether the earlier request under the key had the same fields
 * @throws EmulatorError if `assumed` rejects the key
 */
export function replay(isSame: boolean, assumed: Assumed): Replay {
  const choice = isSame ? assumed.replayedKey : assumed.replayedKeyOtherBody;
  if (choice === 'ignore') return undefined;
  if (choice === 'same_link') return 201;
  if (choice === 'same_link_200') return 200;
  throw new EmulatorError(
    REFUSALS[choice],
    isSame
      ? 'this Idempotency-Key was used before'
      : 'this Idempotency-Key was used for another request',
  );
}
