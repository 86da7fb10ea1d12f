/** The messages between a caller's process and the process that started it. */

/** An order that the merchant is asked to store. */
export interface NewOrder {
  readonly reference: string;
  /** In the smallest unit of the currency. */
  readonly amount: number;
  readonly currency: string;
  readonly tenant: string | null;
}

export interface Call {
  readonly id: number;
  readonly name:
    | 'deliver'
    | 'reconcile'
    | 'find'
    | 'createOrder'
    | 'effects'
    | 'reference'
    | 'close'
    | 'ping';
  readonly order: NewOrder;
}

/** The reply to a notification: 200, or the code of the refusal. */
export interface Delivered {
  readonly isAcknowledged: boolean;
  readonly code?: string;
}

export interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

export type Told =
  | Answer
  | { readonly event: 'ready'; readonly value: readonly string[] }
  | { readonly event: 'failed'; readonly value: string }
  | { readonly event: 'found'; readonly value: boolean | undefined }
  | { readonly event: 'credited'; readonly value: number | null };
