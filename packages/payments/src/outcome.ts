/** The outcomes of a run, and what each means for the three ways, in one table. */
import { isWebhookError, type WebhookError } from '@paylink/core';
import type { Outcome, ReconcileReport, ServicePayment, Settled } from './contract.js';

/** The end of a run. */
export interface Verdict {
  readonly outcome: Outcome;
  /** What the webhook throws. Absent if the webhook acknowledges. */
  readonly error?: WebhookError;
  /** The service's answer, if the run has asked. */
  readonly payment?: ServicePayment | undefined;
}

/** The lists of a report of `reconcile`. */
type ReconcileList = Exclude<keyof ReconcileReport, 'total' | 'keyRefused' | 'cursor'>;

interface Translation {
  /** The webhook throws an error of this code, or acknowledges. */
  readonly webhook: string | undefined;
  readonly settle: Settled['status'];
  readonly reconcile: ReconcileList;
}

const TRANSLATIONS: Readonly<Record<Outcome, Translation>> = {
  credited: { webhook: undefined, settle: 'paid', reconcile: 'credited' },
  paid: { webhook: undefined, settle: 'paid', reconcile: 'paid' },
  pending: { webhook: 'payment_pending', settle: 'pending', reconcile: 'pending' },
  no_payment: { webhook: 'no_payment', settle: 'unknown', reconcile: 'noPayment' },
  failed: { webhook: undefined, settle: 'failed', reconcile: 'failed' },
  cancelled: { webhook: undefined, settle: 'cancelled', reconcile: 'cancelled' },
  unknown_order: { webhook: 'unknown_order', settle: 'unknown', reconcile: 'errors' },
  order_closed: { webhook: 'order_closed', settle: 'closed', reconcile: 'errors' },
  amount_differs: { webhook: 'amount_differs', settle: 'differs', reconcile: 'errors' },
  not_credited: { webhook: 'not_credited', settle: 'unavailable', reconcile: 'errors' },
  invalid_order: { webhook: 'invalid_order', settle: 'unavailable', reconcile: 'errors' },
  orders_unavailable: { webhook: 'orders_unavailable', settle: 'unavailable', reconcile: 'errors' },
  confirm_unavailable: {
    webhook: 'confirm_unavailable',
    settle: 'unavailable',
    reconcile: 'errors',
  },
  handler_timeout: { webhook: 'handler_timeout', settle: 'unavailable', reconcile: 'errors' },
};

const OUTCOMES = Object.keys(TRANSLATIONS) as Outcome[];

/** @throws the error, unless the outcome means that the notification needs nothing more */
export function acknowledge({ outcome, error }: Verdict): void {
  if (TRANSLATIONS[outcome].webhook !== undefined) throw error!;
}

export function toStatus({ outcome }: Verdict): Settled['status'] {
  return TRANSLATIONS[outcome].settle;
}

export function toList({ outcome }: Verdict): ReconcileList {
  return TRANSLATIONS[outcome].reconcile;
}

/** Makes the verdict of an error that a step of the run threw. Rethrows a fault of our own code. */
export function refusal(error: unknown): Verdict & { readonly error: WebhookError } {
  if (!isWebhookError(error)) throw error;
  const outcome = OUTCOMES.find((each) => TRANSLATIONS[each].webhook === error.code);
  if (outcome === undefined) throw error;
  return { outcome, error };
}
