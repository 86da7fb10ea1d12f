/**
 * Messages of PostgreSQL's protocol, version 3: a type byte, then a length that includes itself
 * (PostgreSQL 18, section 54.7).
 */

export interface Message {
  /** One letter. Empty for the first message of a connection, which has no type. */
  readonly type: string;
  readonly bytes: Buffer;
}

/** Splits a stream of bytes into messages. */
export class MessageReader {
  #rest: Buffer = Buffer.alloc(0);
  /** Set if the next message has a type. A client's first message does not. */
  typed: boolean;

  constructor(typed: boolean) {
    this.typed = typed;
  }

  add(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
  }

  /**
   * Returns the next whole message, if present. One at a time, because the first message decides
   * the form of the following ones.
   */
  next(): Message | undefined {
    const head = this.typed ? 1 : 0;
    if (this.#rest.length < head + 4) return undefined;
    const length = head + this.#rest.readUInt32BE(head);
    if (this.#rest.length < length) return undefined;
    const bytes = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return { type: this.typed ? String.fromCharCode(bytes[0]!) : '', bytes };
  }
}

const SSL_REQUEST = 80_877_103;

/** Recognises a client's request for TLS. The client continues without TLS after the answer `N`. */
export function isSslRequest({ bytes }: Message): boolean {
  return bytes.length === 8 && bytes.readUInt32BE(4) === SSL_REQUEST;
}

/** Returns the SQL of a Query or Parse message. */
export function sqlOf({ type, bytes }: Message): string | undefined {
  if (type === 'Q') return textAt(bytes, 5);
  // A Parse message starts with the name of the prepared statement.
  if (type === 'P') return textAt(bytes, bytes.indexOf(0, 5) + 1);
  return undefined;
}

function textAt(bytes: Buffer, start: number): string {
  return bytes.toString('utf8', start, bytes.indexOf(0, start));
}

export function query(sql: string): Buffer {
  const text = Buffer.from(`${sql}\0`);
  const head = Buffer.from('Q\0\0\0\0');
  head.writeUInt32BE(text.length + 4, 1);
  return Buffer.concat([head, text]);
}

/** Returns an ErrorResponse, after which the server ends the connection. */
export function fatal(code: string, text: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${text}\0\0`);
  const head = Buffer.from('E\0\0\0\0');
  head.writeUInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}
