import type { Price } from './payment.js';

/** The paid amount, or nothing if the link does not allow it. */
export function readAmount(price: Price, entered: string): number | undefined {
  if ('amount' in price) return price.amount;
  const amount = readWholeNumber(entered);
  return amount !== undefined && amount >= price.amountMin && amount <= price.amountMax
    ? amount
    : undefined;
}

/** A whole number as people write it. */
export function readWholeNumber(entered: string): number | undefined {
  // People group the digits of an amount with blanks, and a paste brings them along.
  const digits = entered.replace(/\s/g, '');
  return /^\d{1,16}$/.test(digits) ? Number(digits) : undefined;
}
