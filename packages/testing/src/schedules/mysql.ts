/** The protocol of MySQL and MariaDB ("Client/Server Protocol" in the manuals of both). */
import { Round } from './round.js';
import { splitMessages, WireError, type Listener, type Wire } from './wire.js';

const CAN = { compress: 0x20, tls: 0x800, zstd: 0x400_0000, endsByOk: 0x100_0000 };
const ATTRIBUTES = 0x800_0000;
/** Among the further flags of MariaDB: the columns of a prepared statement are sent once. */
const CACHES_COLUMNS = 0x10;
const IN_TRANSACTION = 0x1;
const MORE_RESULTS = 0x8;
const CURSOR = 0x40;
const DEADLOCK = '1213';
const [QUIT, QUERY, CHANGE_USER, FETCH, FIELDS] = [0x01, 0x03, 0x11, 0x1c, 0x04];
const [PREPARE, EXECUTE, LONG_DATA, CLOSE, BULK] = [0x16, 0x17, 0x18, 0x19, 0xfa];
const UNANSWERED = [QUIT, LONG_DATA, CLOSE];
/** The id of the statement that was prepared last, which a client may not know yet. */
const LAST_PREPARED = 0xffff_ffff;
const LONGEST_PACKET = 0xff_ffff;
const MOST_PACKETS = 4;
const HEADER = 4;

export function openMySqlWire(listener: Listener): Wire {
  let isLoggingIn = false;
  let [server, serverMore, client, clientMore] = [0, 0, 0, 0];
  let round: Round | undefined;
  let isContinued = false;
  const commands = new WeakMap<Round, { readonly code: number; readonly sql: string }>();
  const prepared = new Map<number, string>();
  let lastSql = '';
  const both = (flag: number): boolean => (server & client & flag) !== 0;

  const logIn = (payload: Buffer): void => {
    if (isLoggingIn || payload.length < 32) return;
    client = payload.readUInt32LE(0);
    clientMore = payload.readUInt32LE(28);
    if (payload.length === 32 && both(CAN.tls))
      throw new WireError('asked for TLS: connect without it, such as with ?ssl=false');
    if (both(CAN.compress) || both(CAN.zstd))
      throw new WireError('asked for compression, which hides the rounds: switch it off');
    isLoggingIn = true;
  };

  const fromClient = splitMessages(lengthOf, (message) => {
    const payload = message.subarray(HEADER);
    if (!listener.isOpen) logIn(payload);
    const isCommand = listener.isOpen && message[3] === 0 && round === undefined;
    if (isCommand) round = begin(payload);
    round ??= new Round([], [], false);
    round.parts.push(message);
    if (round.parts.length > MOST_PACKETS)
      throw new WireError('sent a statement of more than 64 MiB, which cannot be held');
    // A longer command goes on in the next packet.
    if (payload.length === LONGEST_PACKET) return;
    listener.onRound(round);
    round = undefined;
  });
  const begin = (payload: Buffer): Round => {
    const code = payload[0]!;
    const begun = new Round([], [], !UNANSWERED.includes(code));
    let sql = '';
    if (code === QUERY || code === PREPARE)
      sql = payload.toString('utf8', code === QUERY && both(ATTRIBUTES) ? 3 : 1);
    if (code === EXECUTE || code === BULK) {
      const id = payload.readUInt32LE(1);
      sql = (id === LAST_PREPARED ? lastSql : prepared.get(id)) ?? '';
    }
    // Here text may have these marks, and a value must not be told.
    sql = sql.replace(/"(?:[^"\\]|""|\\[^])*(?:"|$)/g, '?');
    if (code === PREPARE) lastSql = sql;
    else if (sql !== '') begun.statements.push(sql);
    commands.set(begun, { code, sql });
    return begun;
  };

  /** Definitions of columns and parameters that are still to come. */
  let definitions = 0;
  /** The rows of the result so far. Undefined outside of a result. */
  let rows: number | undefined;
  let status = 0;
  const end = (answered: Round): void => {
    answered.isInTransaction = (status & IN_TRANSACTION) !== 0 && answered.error !== DEADLOCK;
    rows = undefined;
    listener.onAnswer();
  };
  const endResult = (answered: Round, changed: number): void => {
    answered.rows = (answered.rows ?? 0) + changed;
    rows = undefined;
    if ((status & MORE_RESULTS) === 0) end(answered);
  };

  const onFirst = (answered: Round, code: number, payload: Buffer): void => {
    if (code === PREPARE) {
      prepared.set(payload.readUInt32LE(1), commands.get(answered)!.sql);
      const counts = [payload.readUInt16LE(5), payload.readUInt16LE(7)];
      definitions = counts[0]! + counts[1]!;
      if (!both(CAN.endsByOk)) definitions += counts.filter((count) => count > 0).length;
      if (definitions === 0) end(answered);
    } else if (payload[0] === 0) {
      const changed = lengthAt(payload, 1);
      const id = lengthAt(payload, changed.next);
      status = payload.readUInt16LE(id.next);
      endResult(answered, changed.value);
    } else if (code === CHANGE_USER || payload[0] === 0xfb) {
      // The client answers: with a secret, or with the file of LOAD DATA LOCAL.
    } else if (code === QUERY || code === EXECUTE || code === BULK) {
      const count = lengthAt(payload, 0);
      const isCached = (serverMore & clientMore & CACHES_COLUMNS) !== 0;
      definitions = isCached && payload[count.next] === 0 ? 0 : count.value;
      if (!both(CAN.endsByOk)) definitions += 1;
      rows = 0;
    } else if (code === FETCH || code === FIELDS) {
      onRow(answered, 0, payload, payload.length);
    } else end(answered);
  };
  const onDefinition = (answered: Round, code: number, payload: Buffer, length: number): void => {
    definitions -= 1;
    if (definitions > 0) return;
    const isEof = payload[0] === 0xfe && length < 9;
    if (code === PREPARE) end(answered);
    else if (isEof && (payload.readUInt16LE(3) & CURSOR) !== 0) endResult(answered, 0);
  };
  const onRow = (answered: Round, before: number, payload: Buffer, length: number): void => {
    const isEnd = payload[0] === 0xfe && length < (both(CAN.endsByOk) ? LONGEST_PACKET : 9);
    if (!isEnd) return void (rows = before + 1);
    if (both(CAN.endsByOk))
      status = payload.readUInt16LE(lengthAt(payload, lengthAt(payload, 1).next).next);
    else status = payload.readUInt16LE(3);
    endResult(answered, before);
  };

  const fromServer = splitMessages(
    (bytes) => {
      // A greeting is short, and the first packet.
      if (
        !isLoggingIn &&
        server === 0 &&
        bytes.length >= HEADER &&
        (bytes[3] !== 0 || bytes[2] !== 0)
      )
        throw new WireError('does not answer as MySQL or MariaDB');
      return lengthOf(bytes);
    },
    (message, whole) => {
      const payload = message.subarray(HEADER);
      const length = whole - HEADER;
      const wasContinued = isContinued;
      isContinued = length === LONGEST_PACKET;
      if (!isLoggingIn) return greet(payload);
      if (!listener.isOpen) {
        listener.isOpen = payload[0] === 0;
        return;
      }
      const answered = listener.current;
      if (answered === undefined || wasContinued) return;
      const { code } = commands.get(answered)!;
      if (definitions > 0) return onDefinition(answered, code, payload, length);
      if (payload[0] === 0xff) {
        const error = payload.readUInt16LE(1);
        // MariaDB reports the progress of a long statement so.
        if (error === 0xffff) return;
        answered.error = String(error);
        end(answered);
      } else if (rows === undefined) onFirst(answered, code, payload);
      else onRow(answered, rows, payload, length);
    },
    1_024,
  );
  const greet = (payload: Buffer): void => {
    if (payload[0] === 0xff) return;
    if (payload[0] !== 10) throw new WireError('does not answer as MySQL or MariaDB');
    const at = payload.indexOf(0, 1) + 1 + 4 + 8 + 1;
    server = payload.readUInt16LE(at) + payload.readUInt16LE(at + 5) * 0x1_0000;
    serverMore = payload.readUInt32LE(at + 14);
  };
  return { fromClient, fromServer };
}

function lengthOf(bytes: Buffer): number | undefined {
  return bytes.length < HEADER ? undefined : HEADER + bytes.readUIntLE(0, 3);
}

/** Reads an integer of one to nine bytes. */
function lengthAt(payload: Buffer, at: number): { readonly value: number; readonly next: number } {
  const first = payload[at]!;
  if (first < 0xfb) return { value: first, next: at + 1 };
  const size = { 0xfc: 2, 0xfd: 3 }[first] ?? 6;
  return { value: payload.readUIntLE(at + 1, size), next: at + 1 + (size === 6 ? 8 : size) };
}
