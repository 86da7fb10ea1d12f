/** `@paylink/payments/store`: helpers for writing a store. */
export { RecentlyDone } from './kit/recently-done.js';
export { withRetries } from './kit/retries.js';
export { Turns } from './kit/turns.js';
