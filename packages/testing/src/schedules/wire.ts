/** The proxy's knowledge of a database's protocol: the beginning and the end of each round. */
import type { Round } from './round.js';

/** Reads the bytes of one connection. It changes none. */
export interface Wire {
  /** True once the server has let the client in. */
  readonly isOpen: boolean;
  /** @throws WireError */
  readonly fromClient: (chunk: Buffer) => void;
  /** @throws WireError */
  readonly fromServer: (chunk: Buffer) => void;
}

/** Receives the events of a wire. */
export interface Listener {
  /** Queues the bytes for the server. */
  readonly onRound: (round: Round) => void;
  /** The round that the server answers now. */
  readonly current: () => Round | undefined;
  readonly onAnswer: () => void;
  /** Sends bytes of the proxy's own, which refuse encryption. */
  readonly reply: (bytes: Buffer) => void;
  readonly note: (sentence: string) => void;
}

export type OpenWire = (listener: Listener) => Wire;
