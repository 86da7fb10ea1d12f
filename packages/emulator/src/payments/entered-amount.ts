import { amountBoundsOf, type Link } from '../contract/payment.js';

/** Parses the paid amount. Returns undefined if the link does not allow it. */
export function parseEnteredAmount(link: Link, entered: string): number | undefined {
  if ('amount' in link) return link.amount;
  const { min, max } = amountBoundsOf(link);
  const amount = parseWholeNumber(entered);
  return amount !== undefined && amount >= min && amount <= max ? amount : undefined;
}

/** Parses a whole number as people write it. */
export function parseWholeNumber(entered: string): number | undefined {
  // People group digits with blanks, and a paste brings the blanks along.
  const digits = entered.replace(/\s/g, '');
  return /^\d{1,16}$/.test(digits) ? Number(digits) : undefined;
}
