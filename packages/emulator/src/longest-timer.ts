/** The longest delay of a timer, in milliseconds. A longer timer would fire at once. */
export const LONGEST_TIMER = 2 ** 31 - 1;
