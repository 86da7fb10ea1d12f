import type { Server } from 'node:http';

/** A web framework with the compared servers. */
export interface Host {
  /** Reads the body to its end and replies: the cost of the host itself. */
  bare(): Server | Promise<Server>;
  /** The host's usual way to the raw body, with a hand-written check. */
  'by hand'(): Server | Promise<Server>;
  paylink(): Server | Promise<Server>;
}

export type ContestantName = keyof Host;

export const CONTESTANTS: readonly ContestantName[] = ['bare', 'by hand', 'paylink'];
