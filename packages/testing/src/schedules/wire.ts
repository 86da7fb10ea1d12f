/** The proxy's knowledge of a database's protocol: where each message and each round ends. */
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

/** The other side speaks another protocol, or asks for something that the proxy refuses. */
export class WireError extends Error {}

/** A held round stays in memory. */
export const LONGEST_MESSAGE = 64 * 2 ** 20;

export interface Framing {
  /** Bytes after which `lengthOf` knows the length of the whole message. */
  readonly headerLength: () => number;
  readonly lengthOf: (header: Buffer) => number;
  /** Bytes of each message to keep. Default: the whole message, which may have 64 MiB. */
  readonly kept?: number;
}

/** Returns a function that takes a stream's chunks, however cut, and calls `onMessage` for each. */
export function splitMessages(
  { headerLength, lengthOf, kept = Infinity }: Framing,
  onMessage: (message: Buffer, length: number) => void,
): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let seen = 0;
  let length: number | undefined;
  return (chunk) => {
    for (let at = 0; at < chunk.length;) {
      const wanted = (length ?? headerLength()) - seen;
      const part = chunk.subarray(at, at + wanted);
      if (seen < kept) parts.push(part);
      seen += part.length;
      at += part.length;
      if (part.length < wanted) return;
      if (length === undefined) {
        length = lengthOf(Buffer.concat(parts));
        if (!(length >= seen)) throw new WireError('sent a message with an impossible length');
        if (kept === Infinity && length > LONGEST_MESSAGE)
          throw new WireError('announced a message of more than 64 MiB, which cannot be held');
        if (length > seen) continue;
      }
      const message = Buffer.concat(parts);
      const whole = length;
      [parts, seen, length] = [[], 0, undefined];
      onMessage(message, whole);
    }
  };
}
