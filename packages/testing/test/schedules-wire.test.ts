/** The wires' reading of both sides' bytes. test/schedules has whole engines. */
import { expect, it } from 'vitest';
import { openHttpWire } from '../src/schedules/http.js';
import { openMySqlWire } from '../src/schedules/mysql.js';
import { openPostgresWire } from '../src/schedules/postgres.js';
import { Round } from '../src/schedules/round.js';
import type { OpenWire } from '../src/schedules/wire.js';
import { extended, message, STARTUP } from './postgres-messages.js';

/** Opens a wire whose rounds the database answers one after the other. */
function open(openWire: OpenWire) {
  const rounds: Round[] = [];
  let answered = 0;
  const wire = openWire({
    isOpen: false,
    get current() {
      return rounds[answered];
    },
    onRound: (round) => void (round.isExpectingAnswer && rounds.push(round)),
    onAnswer: () => void (answered += 1),
    reply: () => undefined,
    note: () => undefined,
  });
  return { ...wire, rounds };
}

const zeros = (length: number): number[] => Array.from({ length }, () => 0);
const post = (field: string, body = ''): Buffer =>
  Buffer.from(`POST / HTTP/1.1\r\n${field}\r\n\r\n${body}`);

it.each([
  ['0-0/*', 1],
  ['0-1/2', 2],
  ['*/0', 0],
  ['*/*', undefined],
])('reads from Content-Range: %s how many rows a request changed: %s', (range, rows) => {
  const { fromClient, fromServer, rounds } = open(openHttpWire);
  fromClient(Buffer.from('PATCH /orders?paid_at=is.null HTTP/1.1\r\nHost: localhost\r\n\r\n'));
  fromServer(Buffer.from(`HTTP/1.1 204 No Content\r\nContent-Range: ${range}\r\n\r\n`));
  expect(rounds).toEqual([expect.objectContaining({ rows, error: undefined })]);
});

it.each([
  ['its length', 'Content-Length: 2', '{}'],
  ['its chunks', 'Transfer-Encoding: chunked', '2\r\n{}\r\n0\r\n\r\n'],
  ['a trailer', 'Transfer-Encoding: chunked', '2;a=b\r\n{}\r\n0\r\nDate: now\r\n\r\n'],
])('finds the end of an HTTP answer by %s, however the bytes are cut', (_, field, body) => {
  const { fromClient, fromServer, rounds } = open(openHttpWire);
  for (const last of [0, 1]) {
    fromClient(post('Content-Length: 0'));
    const head = `HTTP/1.1 200 OK\r\nContent-Range: 0-${last}/*\r\n${field}`;
    for (const byte of Buffer.from(`${head}\r\n\r\n${body}`)) fromServer(Buffer.of(byte));
  }
  expect(rounds.map(({ rows }) => rows)).toEqual([1, 2]);
});

it('knows that the answer to HEAD has no body, although it has a length', () => {
  const { fromClient, fromServer, rounds } = open(openHttpWire);
  fromClient(Buffer.from('HEAD /orders HTTP/1.1\r\n\r\n'));
  fromServer(Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 9\r\nContent-Range: */3\r\n\r\n'));
  expect(rounds).toEqual([expect.objectContaining({ rows: 3 })]);
});

it('takes no 100 Continue for the answer to a request', () => {
  const { fromClient, fromServer, rounds } = open(openHttpWire);
  fromClient(post('Expect: 100-continue'));
  fromServer(Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'));
  fromServer(Buffer.from('HTTP/1.1 409 Conflict\r\n\r\n'));
  expect(rounds).toEqual([expect.objectContaining({ error: '409' })]);
});

/** Opens a wire of PostgreSQL behind its login. */
function openPostgres() {
  const wire = open(openPostgresWire);
  wire.fromClient(STARTUP);
  wire.fromServer(message('Z', 'I'));
  return wire;
}

it('adds up the rows that the statements of one PostgreSQL query changed', () => {
  const { fromClient, fromServer, rounds } = openPostgres();
  fromClient(message('Q', 'UPDATE orders SET paid = true; UPDATE stock SET left = 0\0'));
  fromServer(Buffer.concat([message('C', 'UPDATE 1\0'), message('C', 'UPDATE 0\0')]));
  fromServer(message('Z', 'I'));
  expect(rounds).toEqual([expect.objectContaining({ rows: 1, isInTransaction: false })]);
});

it('knows the statements that a client of PostgreSQL prepared under a name', () => {
  const { fromClient, rounds } = openPostgres();
  const prepare = (name: string, sql: string) => message('P', `${name}\0${sql}\0\0\0`);
  const run = (portal: string, name: string) => [
    message('B', `${portal}\0${name}\0\0\0\0\0\0\0`),
    message('E', `${portal}\0\0\0\0\0`),
  ];
  const [read, write] = ['SELECT paid FROM orders', 'UPDATE orders SET paid = true'];
  fromClient(Buffer.concat([prepare('r', read), prepare('w', write), message('S', '')]));
  fromClient(Buffer.concat([...run('', 'w'), ...run('of-r', 'r'), message('S', '')]));
  expect(rounds.map(({ statements }) => statements)).toEqual([[], [write, read]]);
});

it('knows that an error answers a PostgreSQL statement whose client sends a flush', () => {
  const { fromClient, fromServer, rounds } = openPostgres();
  fromClient(Buffer.concat(extended('UPDATE orders SET paid = true')));
  fromClient(message('H', ''));
  fromServer(message('E', 'SERROR\0C23505\0\0'));
  fromClient(message('S', ''));
  fromServer(message('Z', 'I'));
  expect(rounds).toEqual([
    expect.objectContaining({ error: '23505', isInTransaction: true }),
    expect.objectContaining({ error: undefined, isInTransaction: false }),
  ]);
});

it('knows that a portion of the rows answers a PostgreSQL statement', () => {
  const { fromClient, fromServer, rounds } = openPostgres();
  fromClient(Buffer.concat([...extended('SELECT note FROM orders'), message('H', '')]));
  fromServer(message('s', ''));
  fromClient(Buffer.concat([message('E', '\0\0\0\0\0'), message('S', '')]));
  fromServer(Buffer.concat([message('C', 'SELECT 3\0'), message('Z', 'I')]));
  expect(rounds).toEqual([
    expect.objectContaining({ rows: undefined, isInTransaction: true }),
    expect.objectContaining({ rows: 3, isInTransaction: false }),
  ]);
});

it('takes no message inside a COPY for a round', () => {
  const { fromClient, fromServer, rounds } = openPostgres();
  fromClient(message('Q', 'COPY orders FROM STDIN\0'));
  fromServer(message('G', ''));
  // The server ignores a flush and a Sync there.
  fromClient(Buffer.concat(['d', 'H', 'S', 'c'].map((type) => message(type, ''))));
  fromServer(Buffer.concat([message('C', 'COPY 1\0'), message('Z', 'I')]));
  fromClient(message('Q', 'SELECT 1\0'));
  expect(rounds.map(({ statements }) => statements)).toEqual([
    ['COPY orders FROM STDIN'],
    ['SELECT 1'],
  ]);
});

const packet = (sequence: number, ...payload: number[]): Buffer =>
  Buffer.from([payload.length, 0, 0, sequence, ...payload]);
const query = (sql: string): Buffer => packet(0, 3, ...Buffer.from(sql));
const longestPacket = Buffer.alloc(4 + 0xff_ffff);
longestPacket.set([0xff, 0xff, 0xff, 0]);

/** Opens a wire of MySQL behind its login. @param flag 1 if both sides end results by OK packets */
function openMySql(flag = 0) {
  const wire = open(openMySqlWire);
  wire.fromServer(packet(0, 10, ...zeros(19), 0, flag, ...zeros(19)));
  wire.fromClient(packet(1, 0, 0, 0, flag, ...zeros(36)));
  wire.fromServer(packet(2, ...zeros(7)));
  return wire;
}

it.each([
  ['ends with a deadlock', 1_213, false],
  ['goes on after a duplicate key', 1_062, true],
])('knows that a transaction of MySQL %s', (_, code, isInTransaction) => {
  const { fromClient, fromServer, rounds } = openMySql();
  fromClient(query('BEGIN'));
  fromServer(packet(1, 0, 0, 0, 1, 0, 0, 0));
  fromClient(query('UPDATE orders SET paid = true'));
  fromServer(packet(1, 0xff, code & 0xff, code >> 8));
  const error = String(code);
  expect(rounds[0]).toMatchObject({ isInTransaction: true });
  expect(rounds[1]).toMatchObject({ error, isInTransaction });
});

it.each([
  ['an EOF packet', 0, [packet(3, 0xfe, 0, 0, 0, 0)]],
  ['an OK packet', 1, []],
])('counts the rows of a MySQL result that ends by %s, also a row of 16 MiB', (_, flag, eof) => {
  const { fromClient, fromServer, rounds } = openMySql(flag);
  fromClient(query('SELECT note FROM orders'));
  fromServer(Buffer.concat([packet(1, 1), packet(2, 3, ...zeros(8)), ...eof]));
  const [size, data] = [65_536, Buffer.concat([packet(4, 1, 49), longestPacket, packet(6, 49)])];
  // As it arrives over TCP.
  for (let at = 0; at < data.length; at += size) fromServer(data.subarray(at, at + size));
  fromServer(packet(7, 0xfe, 0, 0, 1, 0, 0, 0));
  expect(rounds).toEqual([expect.objectContaining({ rows: 2, isInTransaction: true })]);
});

it('reads the rows and the state behind an insert id of 8 bytes', () => {
  const { fromClient, fromServer, rounds } = openMySql();
  fromClient(query('INSERT INTO payments VALUES (1)'));
  fromServer(packet(1, 0, 1, 0xfe, ...[0, 0, 0, 1, 0, 0, 0, 0], ...[1, 0, 0, 0]));
  expect(rounds).toEqual([expect.objectContaining({ rows: 1, isInTransaction: true })]);
});

it('waits for each result of a MySQL call', () => {
  const { fromClient, fromServer, rounds } = openMySql();
  fromClient(query('CALL credit(1)'));
  fromServer(Buffer.concat([packet(1, 0, 1, 0, 8, 0, 0, 0), packet(2, 0, 2, 0, 0, 0, 0, 0)]));
  fromClient(query('UPDATE orders SET paid = true'));
  fromServer(packet(1, 0, 0, 0, 0, 0, 0, 0));
  expect(rounds.map(({ rows }) => rows)).toEqual([3, 0]);
});

it('tells no text in double quotes, which MySQL takes for a value', () => {
  const { fromClient, rounds } = openMySql();
  fromClient(query('UPDATE orders SET name = "Awa", note = "a ""b"" \\" c" WHERE id = ?'));
  expect(rounds[0]!.statements).toEqual(['UPDATE orders SET name = ?, note = ? WHERE id = ?']);
});

it('reads a MySQL statement behind its attributes', () => {
  const { fromClient, rounds } = openMySql(8);
  fromClient(packet(0, 3, 0, 1, ...Buffer.from('BEGIN')));
  expect(rounds.map(({ statements }) => statements)).toEqual([['BEGIN']]);
});

it.each([
  ['SELECT paid FROM orders', true],
  ['SELECT count(*) FROM orders WHERE lower(reference) IN (?)', true],
  ['SELECT paid FROM orders FOR UPDATE', false],
  ['SELECT paid FROM orders FOR NO KEY UPDATE', false],
  ['SELECT paid FROM orders FOR KEY SHARE', false],
  ['SELECT paid FROM orders LOCK IN SHARE MODE', false],
  ['SELECT credit(reference) FROM orders', false],
  ['SELECT paid INTO OUTFILE ? FROM orders', false],
])('knows of %s whether it writes and locks nothing: %s', (statement, isRead) => {
  expect(new Round([statement]).isRead).toBe(isRead);
});

const WIRES = { PostgreSQL: openPostgresWire, MySQL: openMySqlWire, HTTP: openHttpWire };
const bytes = (...parts: readonly (string | readonly number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));
/** A greeting of MySQL that offers TLS and compression. */
const GREETING = bytes([38, 0, 0, 0, 10], '8\0', zeros(13), [0x20, 0x08], zeros(20));
const packets = Buffer.concat(Array.from({ length: 5 }, () => longestPacket));

it.each([
  ['PostgreSQL', 'HTTP', bytes('GET / HTTP/1.1\r\n\r\n'), /more than 64 MiB/],
  ['PostgreSQL', 'another version', bytes([0, 0, 0, 8, 0, 2, 0, 0]), /does not speak version 3/],
  ['PostgreSQL', 'an impossible length', bytes([0, 0, 0, 1]), /impossible length/],
  ['PostgreSQL', '1 GB', bytes([64, 0, 0, 0, 0, 3, 0, 0]), /more than 64 MiB/],
  ['MySQL', 'a request for TLS', bytes([32, 0, 0, 1, 0, 8], zeros(30)), /asked for TLS/],
  ['MySQL', 'a compressed login', bytes([33, 0, 0, 1, 0x20], zeros(32)), /asked for compression/],
  ['MySQL', 'packet after packet of one statement', packets, /more than 64 MiB/],
  ['HTTP', 'HTTP/2', bytes('GET / HTTP/2.0\r\n\r\n'), /does not speak HTTP\/1\.1/],
  ['HTTP', 'a head without end', bytes('x'.repeat(70_000)), /impossible length/],
  ['HTTP', 'a WebSocket', post('Upgrade: websocket'), /asked for a WebSocket/],
  ['HTTP', '99 GB', post('Content-Length: 99999999999'), /more than 64 MiB/],
  ['HTTP', 'a negative length', post('Content-Length: -9'), /impossible length/],
  ['HTTP', 'a negative chunk', post('Transfer-Encoding: chunked', '-1\r\n'), /impossible length/],
] as const)('a wire of %s refuses a client that sends %s', (name, _, sent, sentence) => {
  const { fromClient, fromServer } = open(WIRES[name]);
  if (name === 'MySQL') fromServer(GREETING);
  expect(() => fromClient(sent)).toThrow(sentence);
});

it.each(Object.entries(WIRES).slice(0, 2))('a wire of %s refuses a server of HTTP', (_, wire) => {
  const { fromServer } = open(wire);
  expect(() => fromServer(bytes('HTTP/1.1 400 Bad Request\r\n\r\n'))).toThrow(/not answer as/);
});
