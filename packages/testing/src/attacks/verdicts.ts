/** The right answer to each kind of attack, and the fault of another answer. */
import type { RawVerdict } from './raw-attack.js';
import table from './verdicts.json';

type Section = keyof typeof table;

export const verdicts = table as unknown as {
  readonly [Name in Section]: Readonly<Record<keyof (typeof table)[Name], RawVerdict>>;
};
