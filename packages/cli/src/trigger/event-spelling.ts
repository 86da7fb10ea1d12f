import { usageFailure } from '../terminal/failure.js';
import { PAYMENT_SUCCEEDED } from '../receiver/notification.js';

/** `payment.success`, `Payment.Succeeded`, `payement_suceeded` */
const ALMOST = /^p[aeymnt]{4,8}s?[._-]?suc/i;

/** @throws Failure if the kind looks like a misspelt `payment.succeeded` */
export function refuseMisspelt(kind: string): void {
  if (kind === PAYMENT_SUCCEEDED || !ALMOST.test(kind)) return;
  throw usageFailure(
    `the event ${JSON.stringify(kind)} is not in the contract: did you mean ${PAYMENT_SUCCEEDED}?`,
    '--any-event sends it unchanged',
  );
}
