import { amountBoundsOf, type Link } from '../contract/payment.js';

/** Parses the paid amount. Returns undefined if the link does not allow it. */
export function parseEnteredAmount(link: Link, entered: string): number | undefined {
  if ('amount' in link) return link.amount;
  const { min, max } = amountBoundsOf(link);
  // People group digits with blanks, and a paste brings the blanks along.
  const digits = entered.replace(/\s/g, '');
  const amount = /^\d{1,16}$/.test(digits) ? Number(digits) : NaN;
  return amount >= min && amount <= max ? amount : undefined;
}
