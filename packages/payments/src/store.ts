/** `@paylink/payments/store`: the parts that stores share. */
export { RecentlyDone } from './kit/recently-done.js';
export { withRetries } from './kit/retries.js';
export { Turns } from './kit/turns.js';
