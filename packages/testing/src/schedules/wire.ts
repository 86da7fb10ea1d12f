/** The proxy's knowledge of a database's protocol: where each message and each round ends. */
import type { Round } from './round.js';

/** Reads the bytes of one connection. It changes none. */
export interface Wire {
  /** @throws WireError */
  readonly fromClient: (chunk: Buffer) => void;
  /** @throws WireError */
  readonly fromServer: (chunk: Buffer) => void;
}

/** The connection, as its wire sees it. */
export interface Listener {
  /** Set to true once the server has let the client in. */
  isOpen: boolean;
  /** The round that the server answers now. */
  readonly current: Round | undefined;
  /** Queues the bytes for the server. */
  onRound(round: Round): void;
  onAnswer(): void;
  /** Sends bytes of the proxy's own, which refuse encryption. */
  reply(bytes: Buffer): void;
  note(sentence: string): void;
}

export type OpenWire = (listener: Listener) => Wire;

/** The other side speaks another protocol, or asks for something that the proxy refuses. */
export class WireError extends Error {}

/** A held round stays in memory. */
const LONGEST_MESSAGE = 64 * 2 ** 20;

/**
 * Returns a function that takes a stream's chunks, however cut, and calls `onMessage` for each.
 *
 * @param lengthOf the length of the message that begins so, undefined if more bytes must come
 * @param kept bytes of each message to keep; default: the whole message, which may have 64 MiB
 */
export function splitMessages(
  lengthOf: (bytes: Buffer) => number | undefined,
  onMessage: (message: Buffer, length: number) => void,
  kept = Infinity,
): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let seen = 0;
  let length: number | undefined;
  return (chunk) => {
    for (let bytes = chunk; bytes.length > 0;) {
      if (length === undefined) {
        if (parts.length > 0) bytes = Buffer.concat([...parts.splice(0), bytes]);
        length = lengthOf(bytes);
        const least = length ?? bytes.length;
        if (!(least > 0)) throw new WireError('sent a message with an impossible length');
        if (kept === Infinity && least > LONGEST_MESSAGE)
          throw new WireError('announced a message of more than 64 MiB, which cannot be held');
        if (length === undefined) return void parts.push(bytes);
      }
      const part = bytes.subarray(0, length - seen);
      if (seen < kept) parts.push(part);
      seen += part.length;
      bytes = bytes.subarray(part.length);
      if (seen < length) return;
      const message = Buffer.concat(parts);
      const whole = length;
      [parts, seen, length] = [[], 0, undefined];
      onMessage(message, whole);
    }
  };
}
