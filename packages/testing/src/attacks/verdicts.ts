/** The right answer to each kind of attack, and the fault of another answer. */
import type { Verdict } from './attack.js';
import table from './verdicts.json';

/** The right answer to a request of raw bytes. */
export interface RawVerdict extends Verdict {
  /** Set if a server may close the connection instead of answering. */
  readonly mayClose?: boolean;
  /** Set if a server that acknowledges must then close the connection without a further answer. */
  readonly mustClose?: boolean;
  /** Set if the HTTP server decides before the receiver. */
  readonly byServer?: boolean;
  readonly method?: string;
}

type Section = keyof typeof table;

export const verdicts = table as unknown as {
  readonly [Name in Section]: Readonly<Record<keyof (typeof table)[Name], RawVerdict>>;
};
