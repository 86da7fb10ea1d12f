/** Replaces the reader's own payments.ts, which READMEs import. */
import type { Payments } from '@paylink/payments';
import type { Pool } from 'pg';

export declare const payments: Payments;
export declare const pool: Pool;
export declare function unpaidReferences(): Promise<string[]>;
