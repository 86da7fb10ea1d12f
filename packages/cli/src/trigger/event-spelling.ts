/** Asks for confirmation if an event kind looks like a misspelled `payment.succeeded`. */
import { usageFailure } from '../terminal/failure.js';
import { PAYMENT_SUCCEEDED } from '../receiver/notification.js';
import { agreesTo } from '../terminal/question.js';

/** @throws Failure if the kind is close to `payment.succeeded` and the user does not confirm it */
export async function confirmEvent(kind: string): Promise<void> {
  if (!isMisspelt(kind)) return;
  const question = `did you mean ${PAYMENT_SUCCEEDED}?`;
  if (process.stdin.isTTY && process.stderr.isTTY) {
    if (await agreesTo(`${JSON.stringify(kind)}: ${question} Send it unchanged?`)) return;
  }
  throw usageFailure(
    `the event ${JSON.stringify(kind)} is not in the contract: ${question}`,
    '--any-event sends it unchanged',
  );
}

function isMisspelt(kind: string): boolean {
  if (
    kind === PAYMENT_SUCCEEDED ||
    /^payment\.(failed|refunded|cancelled|pending|tested)$/.test(kind)
  )
    return false;
  return kind === 'payment.success' || distance(kind.toLowerCase(), PAYMENT_SUCCEEDED) <= 3;
}

/** Counts the letters to add, drop or change (Levenshtein distance). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next.push(
        Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)),
      );
    }
    row = next;
  }
  return row[b.length]!;
}
