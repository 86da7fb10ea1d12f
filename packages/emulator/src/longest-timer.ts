/** The longest that a timer can be set for, in milliseconds. A longer one would fire at once. */
export const LONGEST_TIMER = 2 ** 31 - 1;
