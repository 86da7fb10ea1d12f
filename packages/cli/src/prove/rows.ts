/** Checks the rows of each input. Reports an inexact value as a fault and never rounds. */

import { faultOfReference } from '@paylink/core/internal';
import { usageFailure } from '../failure.js';

/** The amount of an order, or the bounds of the customer's choice, in whole smallest units. */
export type Expected =
  { readonly amount: number } | { readonly least: number; readonly most: number };

export interface OrderRow {
  readonly kind: 'order';
  readonly reference: string;
  readonly expected?: Expected | undefined;
  readonly currency?: string | undefined;
  /** The reason if the row cannot be judged. */
  readonly fault?: string | undefined;
}

export interface CreditRow {
  readonly kind: 'credit';
  readonly reference: string;
  readonly amount?: number | undefined;
  readonly byHand?: boolean | undefined;
  readonly fault?: string | undefined;
}

/** A store's mark: the notification of `digest` is done. */
export interface MarkRow {
  readonly kind: 'mark';
  readonly digest: string;
}

/** A row without a valid reference, which cannot be blamed on an order. */
export interface UselessRow {
  readonly kind: 'useless';
  readonly fault: string;
}

export type Row = OrderRow | CreditRow | MarkRow | UselessRow;

export const ORDER_COLUMNS = [
  'reference',
  'amount',
  'amount_min',
  'amount_max',
  'currency',
] as const;
export const CREDIT_COLUMNS = ['reference', 'amount', 'by_hand'] as const;

/** @throws Failure if two columns share a name, because only one of them could be read */
export function refuseRepeated(
  option: string,
  known: readonly string[],
  names: readonly string[],
  where: string,
): void {
  const repeated = known.find((column) => names.indexOf(column) !== names.lastIndexOf(column));
  if (repeated === undefined) return;
  throw usageFailure(
    `${option}: ${where} has two columns ${repeated}`,
    'leave one of them out, or give it another name',
  );
}

/** A cell. `null` equals an empty cell, because CSV does not distinguish them. */
type Cell = string | null | undefined;
export type Cells<Column extends string> = Readonly<Partial<Record<Column, Cell>>>;

export function readOrder(
  cells: Cells<(typeof ORDER_COLUMNS)[number]>,
  where: string,
): OrderRow | UselessRow {
  const { reference, amount, amount_min: least, amount_max: most, currency } = cells;
  const useless = uselessRow(reference, where);
  if (useless !== undefined) return useless;
  const row = { kind: 'order', reference: reference!, ...(currency ? { currency } : {}) } as const;
  if (amount && (least || most)) return { ...row, fault: `${where} has both an amount and bounds` };
  try {
    if (amount) return { ...row, expected: { amount: readAmount(amount, 'amount') } };
    if (!least && !most) return { ...row };
    if (!least || !most) throw new Error('only one of amount_min and amount_max');
    const expected = {
      least: readAmount(least, 'amount_min'),
      most: readAmount(most, 'amount_max'),
    };
    return expected.least <= expected.most
      ? { ...row, expected }
      : { ...row, fault: `${where} has amount_min over amount_max` };
  } catch (error) {
    return { ...row, fault: `${where} has ${(error as Error).message}` };
  }
}

export function readCredit(
  cells: Cells<(typeof CREDIT_COLUMNS)[number]>,
  where: string,
): CreditRow | UselessRow {
  const { reference, amount, by_hand: byHand } = cells;
  const useless = uselessRow(reference, where);
  if (useless !== undefined) return useless;
  const row = { kind: 'credit', reference: reference! } as const;
  try {
    return {
      ...row,
      ...(amount ? { amount: readAmount(amount, 'amount') } : {}),
      ...(byHand ? { byHand: readBoolean(byHand, 'by_hand') } : {}),
    };
  } catch (error) {
    return { ...row, fault: `${where} has ${(error as Error).message}` };
  }
}

/** Parses a mark's digest, also as PostgreSQL writes a bytea (`\x…`). */
export function readMarkKey(key: Cell, where: string): MarkRow | UselessRow {
  const digest = key?.replace(/^\\x/, '').toLowerCase();
  if (digest !== undefined && /^[0-9a-f]{64}$/.test(digest)) return { kind: 'mark', digest };
  return { kind: 'useless', fault: `${where} needs a key of 64 hexadecimal digits` };
}

/** Returns a row for a reference that no order can have. */
export function uselessRow(reference: Cell, where: string): UselessRow | undefined {
  if (reference === undefined || reference === null || reference.trim() === '')
    return { kind: 'useless', fault: `${where} has no reference` };
  const fault = faultOfReference(reference);
  return fault === undefined
    ? undefined
    : { kind: 'useless', fault: `${where}: the reference ${fault}` };
}

/**
 * Parses an amount in whole smallest units (docs/service.md 2.1.1). Rejects `150.00`, which may
 * mean 150 or 15,000 of them.
 */
function readAmount(cell: string, column: string): number {
  const amount = /^\d{1,16}$/.test(cell) ? Number(cell) : NaN;
  if (Number.isSafeInteger(amount)) return amount;
  throw new Error(`the ${column} ${shown(cell)}, which is not a whole number of the smallest unit`);
}

function readBoolean(cell: string, column: string): boolean {
  if (/^(true|t|yes|y|1)$/i.test(cell)) return true;
  if (/^(false|f|no|n|0)$/i.test(cell)) return false;
  throw new Error(`the ${column} ${shown(cell)}, which is neither true nor false`);
}

const SHOWN = 40;

function shown(cell: string): string {
  return JSON.stringify(cell.length > SHOWN ? `${cell.slice(0, SHOWN)}…` : cell);
}
