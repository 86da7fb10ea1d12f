/** `@paylink/payments/store`: helpers for writing a store. */
export { withRetries } from './kit/retries.js';
export { Turns } from './kit/turns.js';
