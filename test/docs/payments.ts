/** Replaces the reader's own payments.ts, which pages import. */
import type { Payments } from '@paylink/payments';

export declare const payments: Payments;
