import type { Server } from 'node:http';

/**
 * A web framework, with the servers that are held against each other. Each listens on the port that
 * it is given.
 */
export interface Host {
  /** Reads the body to its end and replies, and nothing else: what the host itself costs. */
  bare(): Server | Promise<Server>;
  /** What its users write: the usual way to the raw body, and a check by hand. */
  byHand(): Server | Promise<Server>;
  /** Only what must be done, by code that no one would keep: what the host could reach at most. */
  least(): Server | Promise<Server>;
  paylink(): Server | Promise<Server>;
  /**
   * Paylink; and on `REFUSED_PATH` a bare 401, to what was read to its end, that closes the
   * connection as Paylink's does.
   */
  besieged(): Server | Promise<Server>;
}

export type ServerName = keyof Host;

export type ContestantName = Exclude<ServerName, 'besieged'>;

export const CONTESTANTS: readonly ContestantName[] = ['bare', 'byHand', 'least', 'paylink'];
