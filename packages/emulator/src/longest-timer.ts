/** The longest that a timer can be set for, in milliseconds; a longer one would fire at once. */
export const LONGEST_TIMER = 2 ** 31 - 1;
