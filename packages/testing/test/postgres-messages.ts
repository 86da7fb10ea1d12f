/** Messages of PostgreSQL, as a driver and a server send them. */

/** Returns a message of PostgreSQL. */
export function message(type: string, body: string): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(4 + Buffer.byteLength(body));
  return Buffer.concat([Buffer.from(type), head, Buffer.from(body)]);
}

/** The messages of a driver that prepares the statement and runs it. */
export const extended = (statement: string): Buffer[] => [
  ...[message('P', `\0${statement}\0\0\0`), message('B', '\0\0\0\0\0\0\0\0')],
  message('E', '\0\0\0\0\0'),
];

/** The first message of a client. */
export const STARTUP = Buffer.from([0, 0, 0, 9, 0, 3, 0, 0, 0]);
