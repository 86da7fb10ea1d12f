import type { Verdict } from './attack.js';

export interface RawAttack extends Verdict {
  readonly id: string;
  readonly name: string;
  readonly what: string;
  /** Set if a server may close the connection instead of answering. */
  readonly mayClose?: boolean;
  /** Set if a server that acknowledges must then close the connection without a further answer. */
  readonly mustClose?: boolean;
  /** Set if the HTTP server decides before the receiver. */
  readonly byServer?: boolean;
  readonly method?: string;
  readonly bytes: (craft: Craft) => Buffer;
}

export type RawVerdict = Omit<RawAttack, 'id' | 'name' | 'what' | 'bytes'>;
