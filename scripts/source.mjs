/**
 * The condition in `exports` and `imports` of every package that leads to its sources instead of
 * its builds. tsconfig.json repeats it, because JSON imports nothing.
 */
export const SOURCE = '@paylink/source';

/** Node's flags for a process that runs TypeScript on the sources. */
export const ON_SOURCES = [`--conditions=${SOURCE}`, '--import', 'tsx'];
