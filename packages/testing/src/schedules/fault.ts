/** Names the fault of a try in a sentence, and the change that removes the fault. */
import type { Attempt } from './attempt.js';
import type { Truth } from './lab.js';
import type { Caller } from './process.js';
import { withoutValues } from './story.js';

export interface Fault {
  readonly sentence: string;
  readonly change: string;
}

const CONDITION: Fault = {
  sentence: 'Two deliveries both credit: the write does not require an unpaid order.',
  change:
    'Let one write decide: UPDATE … WHERE reference = … AND paid_at IS NULL, and make further' +
    ' writes only if it changed a row.',
};
const UNIQUE: Fault = {
  sentence: 'Two deliveries both credit: both insert, and nothing makes the row unique.',
  change: 'Add a unique index on the reference, or let a conditional UPDATE of the order decide.',
};
export const EARLY: Fault = {
  sentence: 'A delivery is acknowledged before the commit: it gets 200, and the order is unpaid.',
  change:
    'Commit before credit returns, await every statement, and let find read on connections of' +
    ' its own.',
};
const UNPAID: Fault = {
  sentence: 'The order stays unpaid, although it was delivered again.',
  change: 'Let credit depend on the order alone, and leave no mark behind that stops the next try.',
};
const ONE_TRANSACTION =
  'Make it in the transaction of the conditional write, after it, and only if it changed a row.';

/** Judges an order after its deliveries, of which the last one ran alone. */
export function faultOf(attempt: Attempt, truth: Truth): Fault | undefined {
  if (attempt.acknowledgedUnpaid.size > 0) return EARLY;
  const credits = attempt.callers.filter((caller) => hasCredited(attempt, caller));
  if (truth.paid && credits.length > 1) return isInsert(attempt, credits) ? UNIQUE : CONDITION;
  const culprit = attempt.callers.find((caller) => caller.conduct.credited === 0);
  const write = culprit && writesOf(attempt, culprit).find(({ changedRows }) => changedRows);
  const where = isSplit(attempt) ? 'in a second transaction' : undefined;
  return faultOfTruth(truth, where, write?.statements.map(withoutValues).join('; '));
}

/**
 * @param where the effect is written, if the rounds show it
 * @param which statement writes it, if the rounds show it
 */
export function faultOfTruth(
  { paid, effects }: Truth,
  where: string | undefined,
  which: string | undefined,
): Fault | undefined {
  if (!paid) return UNPAID;
  if (effects === undefined || effects === 1) return undefined;
  const change = ONE_TRANSACTION;
  if (effects === 0)
    return {
      sentence: `The effect is lost: it is written ${where ?? 'after the commit'}.`,
      change,
    };
  const name = which === undefined ? '' : ` (${which})`;
  const place = where ?? 'before the conditional write, or whatever that write changed';
  return {
    sentence: `The effect happens ${effects} times: it${name} is written ${place}.`,
    change,
  };
}

const writesOf = (attempt: Attempt, caller: Caller) =>
  attempt.rounds.get(caller)!.filter(({ changedRows }) => changedRows !== undefined);

/** True if `credit` says so, and the database does not say that no row was changed. */
function hasCredited(attempt: Attempt, caller: Caller): boolean {
  const { credited } = caller.conduct;
  const writes = writesOf(attempt, caller);
  const hasChanged = writes.length === 0 || writes.some(({ changedRows }) => changedRows! > 0);
  return typeof credited === 'number' && credited > 0 && hasChanged;
}

function isInsert(attempt: Attempt, callers: readonly Caller[]): boolean {
  return callers.every((caller) =>
    writesOf(attempt, caller).every(({ statements }) =>
      statements.every((sql) => /^\s*insert/i.test(sql)),
    ),
  );
}

/** True if a caller wrote on one connection while it had a transaction open on another. */
function isSplit(attempt: Attempt): boolean {
  return [...attempt.rounds.values()].some((rounds) =>
    rounds.some(({ changedRows, connection }, at) => {
      const before = rounds.slice(0, at).findLast((round) => round.connection !== connection);
      return changedRows !== undefined && before?.isInTransaction === true;
    }),
  );
}
