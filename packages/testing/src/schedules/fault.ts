/** Names the fault of a try in a sentence, and the change that removes the fault. */
import type { Attempt } from './attempt.js';
import type { Party, Truth } from './subject.js';

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
const EARLY: Fault = {
  sentence:
    'A delivery is acknowledged before the commit: it receives 200, but the order is unpaid.',
  change: 'Commit before credit returns, await every statement, and give find its own connections.',
};
const OPEN: Fault = {
  sentence: 'A transaction stays open after the reply, and its locks block the next writes.',
  change: 'End it on every path, also for a paid order and after an error: COMMIT or ROLLBACK.',
};
const UNPAID: Fault = {
  sentence: 'The order stays unpaid, although it was delivered again.',
  change: 'Make credit depend only on the order, and leave no mark that blocks the next attempt.',
};
const NOTHING: Fault = {
  sentence: 'No delivery credits an order: credit returns, but the order is still unpaid.',
  change:
    'Compare the condition of the write with the stored order (amount, currency, reference,' +
    ' tenant), and look for a missing COMMIT.',
};
const IGNORED: Fault = {
  sentence: 'Two deliveries both credit: one writes on, although its first write changed no row.',
  change: 'Check the count of the conditional write. If it is 0, write nothing else and return 0.',
};
const SHARED: Fault = {
  sentence: 'Two orders pay into one row, and a write is lost or happens twice.',
  change:
    'Let the database add (balance = balance + …), or lock the row before you read it: FOR UPDATE.',
};
const ONE_TRANSACTION =
  'Make it in the transaction of the conditional write, after it, and only if it changed a row.';

const LATER = 'If a worker makes it later, let effects count the job that credit stores.';

/** Judges an order after its deliveries, of which the last one ran alone. */
export function faultOf(attempt: Attempt, { paid, effects }: Truth): Fault | undefined {
  if (attempt.isEarly) return EARLY;
  if (attempt.isLeftOpen) return OPEN;
  const { alone } = attempt.subject;
  if (!paid) return alone.paid ? UNPAID : NOTHING;
  const credits = attempt.parties.filter((party) => hasCredited(attempt, party));
  if (credits.length > 1) {
    if (credits.some((party) => writesOf(attempt, party)[0]?.changedRows === 0)) return IGNORED;
    return doInsert(attempt, credits) ? UNIQUE : CONDITION;
  }
  if (effects === undefined || effects === 1) return undefined;
  if (effects === alone.effects) return faultAlone(effects);
  const second = isSplit(attempt) && 'in a second transaction';
  const early =
    'before the conditional write, outside its transaction, or even if that write changed no row';
  const sentence =
    effects === 0
      ? `The effect is lost: it is written ${second || 'after the commit'}.`
      : `The effect happens ${effects} times: it is written ${second || early}.`;
  return { sentence, change: effects === 0 ? `${ONE_TRANSACTION} ${LATER}` : ONE_TRANSACTION };
}

function faultAlone(effects: number): Fault {
  return {
    sentence: `A single delivery has ${effects} effects, but must have 1.`,
    change:
      effects === 0
        ? `Write it before credit returns. ${LATER}`
        : 'Let effects count 1 for each credit, and look for a second writer, such as a trigger.',
  };
}

/** Judges deliveries of different orders, by how many credits have moved the total. */
export function faultOfTotal(
  { isEarly, orders }: Attempt,
  truths: readonly Truth[],
  credits: number,
): Fault | undefined {
  if (isEarly) return EARLY;
  if (truths.some(({ paid }) => !paid)) return UNPAID;
  return Math.abs(credits - orders.length) < 1e-6 ? undefined : SHARED;
}

const roundsOf = (attempt: Attempt, party: Party) =>
  attempt.roundsOf(party).map(({ round }) => round!);

const writesOf = (attempt: Attempt, party: Party) =>
  roundsOf(attempt, party).filter(({ changedRows }) => changedRows !== undefined);

/** True if each write is an INSERT. The call of a database function is not. */
function doInsert(attempt: Attempt, parties: readonly Party[]): boolean {
  const statements = parties
    .flatMap((party) => writesOf(attempt, party))
    .flatMap((round) => round.statements);
  return statements.length > 0 && statements.every((sql) => /^\s*insert/i.test(sql));
}

/** True if `credit` says so, and the database does not say that no row was changed. */
function hasCredited(attempt: Attempt, party: Party): boolean {
  const writes = writesOf(attempt, party);
  const hasChanged = writes.length === 0 || writes.some(({ changedRows }) => changedRows! > 0);
  return (party.credited ?? 0) > 0 && hasChanged;
}

/** True if a process wrote on one connection while it had a transaction open on another. */
function isSplit(attempt: Attempt): boolean {
  return attempt.parties.some((party) =>
    roundsOf(attempt, party).some(({ changedRows, connection }, at, rounds) => {
      const before = rounds.slice(0, at).findLast((round) => round.connection !== connection);
      return changedRows !== undefined && before?.isInTransaction === true;
    }),
  );
}
