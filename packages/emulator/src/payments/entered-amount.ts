import type { Price } from '../contract/payment.js';

/** Parses the paid amount. Returns undefined if the link does not allow it. */
export function parseEnteredAmount(price: Price, entered: string): number | undefined {
  if ('amount' in price) return price.amount;
  const amount = parseWholeNumber(entered);
  return amount !== undefined && amount >= price.amountMin && amount <= price.amountMax
    ? amount
    : undefined;
}

/** Parses a whole number as people write it. */
export function parseWholeNumber(entered: string): number | undefined {
  // People group digits with blanks, and a paste brings the blanks along.
  const digits = entered.replace(/\s/g, '');
  return /^\d{1,16}$/.test(digits) ? Number(digits) : undefined;
}
