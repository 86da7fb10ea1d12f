/**
 * Messages of PostgreSQL's protocol, version 3: a type byte, then a length that counts itself
 * (PostgreSQL 18, section 54.7).
 */

export interface Message {
  /** One letter; empty for the first message of a connection, which has no type. */
  readonly type: string;
  readonly bytes: Buffer;
}

/** Cuts a stream of bytes into messages. */
export class MessageReader {
  #rest: Buffer = Buffer.alloc(0);
  /** Whether the next message has a type: the first that a client sends has none. */
  typed: boolean;

  constructor(typed: boolean) {
    this.typed = typed;
  }

  add(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
  }

  /**
   * The next whole message, if it has come. One at a time, since the first decides what the
   * following look like.
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

/** What a client asks first when it would like TLS; it goes on without when the answer is `N`. */
export function isSslRequest({ bytes }: Message): boolean {
  return bytes.length === 8 && bytes.readUInt32BE(4) === SSL_REQUEST;
}

/** The SQL of a Query or a Parse message. */
export function sqlOf({ type, bytes }: Message): string | undefined {
  if (type === 'Q') return textAt(bytes, 5);
  // A Parse message has the name of the prepared statement first.
  if (type === 'P') return textAt(bytes, bytes.indexOf(0, 5) + 1);
  return undefined;
}

function textAt(bytes: Buffer, start: number): string {
  return bytes.toString('utf8', start, bytes.indexOf(0, start));
}

/** A Query message. */
export function query(sql: string): Buffer {
  const text = Buffer.from(`${sql}\0`);
  const head = Buffer.from('Q\0\0\0\0');
  head.writeUInt32BE(text.length + 4, 1);
  return Buffer.concat([head, text]);
}

/** An ErrorResponse, after which the server ends the connection. */
export function fatal(code: string, text: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${text}\0\0`);
  const head = Buffer.from('E\0\0\0\0');
  head.writeUInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}
