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

export function openMySqlWire({ onRound, current, onAnswer }: Listener): Wire {
  let phase: 'greeting' | 'login' | 'open' = 'greeting';
  let [server, serverMore, client, clientMore] = [0, 0, 0, 0];
  let round: Round | undefined;
  let isContinued = false;
  const commands = new WeakMap<Round, { readonly code: number; readonly sql: string }>();
  const prepared = new Map<number, string>();
  let lastSql = '';
  const both = (flag: number): boolean => (server & client & flag) !== 0;

  const logIn = (payload: Buffer): void => {
    if (phase !== 'greeting' || payload.length < 32) return;
    client = payload.readUInt32LE(0);
    clientMore = payload.readUInt32LE(28);
    if (payload.length === 32 && both(CAN.tls))
      throw new WireError('asked for TLS: connect without it, such as with ?ssl=false');
    if (both(CAN.compress) || both(CAN.zstd))
      throw new WireError('asked for compression, which hides the rounds: switch it off');
    phase = 'login';
  };

  const fromClient = splitMessages(
    { headerLength: () => HEADER, lengthOf: (header) => HEADER + header.readUIntLE(0, 3) },
    (message) => {
      const payload = message.subarray(HEADER);
      if (phase !== 'open') logIn(payload);
      const isCommand = phase === 'open' && message[3] === 0 && round === undefined;
      if (isCommand) round = begin(payload);
      round ??= new Round(false);
      round.parts.push(message);
      if (round.parts.length > MOST_PACKETS)
        throw new WireError('sent a statement of more than 64 MiB, which cannot be held');
      // A longer command goes on in the next packet.
      if (payload.length === LONGEST_PACKET) return;
      onRound(round);
      round = undefined;
    },
  );
  const begin = (payload: Buffer): Round => {
    const code = payload[0]!;
    const begun = new Round(!UNANSWERED.includes(code));
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

  let state: 'first' | 'definitions' | 'rows' = 'first';
  let definitions = 0;
  let status = 0;
  const end = (answered: Round): void => {
    state = 'first';
    answered.isInTransaction = (status & IN_TRANSACTION) !== 0 && answered.error !== DEADLOCK;
    onAnswer();
  };
  const endResult = (answered: Round, rows: number): void => {
    answered.rows = (answered.rows ?? 0) + rows;
    state = 'first';
    if ((status & MORE_RESULTS) === 0) end(answered);
  };
  let rows = 0;

  const onFirst = (answered: Round, code: number, payload: Buffer): void => {
    if (code === PREPARE) {
      prepared.set(payload.readUInt32LE(1), commands.get(answered)!.sql);
      const counts = [payload.readUInt16LE(5), payload.readUInt16LE(7)];
      definitions = counts[0]! + counts[1]!;
      if (!both(CAN.endsByOk)) definitions += counts.filter((count) => count > 0).length;
      if (definitions === 0) return end(answered);
      state = 'definitions';
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
      state = definitions === 0 ? 'rows' : 'definitions';
      rows = 0;
    } else if (code === FETCH || code === FIELDS) {
      state = 'rows';
      rows = 0;
      onRow(answered, payload, payload.length);
    } else end(answered);
  };
  const onRow = (answered: Round, payload: Buffer, length: number): void => {
    const isEnd = payload[0] === 0xfe && length < (both(CAN.endsByOk) ? LONGEST_PACKET : 9);
    if (!isEnd) return void (rows += 1);
    if (both(CAN.endsByOk))
      status = payload.readUInt16LE(lengthAt(payload, lengthAt(payload, 1).next).next);
    else status = payload.readUInt16LE(3);
    endResult(answered, rows);
  };

  const fromServer = splitMessages(
    {
      headerLength: () => HEADER,
      lengthOf: (header) => {
        // A greeting is short, and the first packet.
        if (phase === 'greeting' && server === 0 && (header[3] !== 0 || header[2] !== 0))
          throw new WireError('does not answer as MySQL or MariaDB');
        return HEADER + header.readUIntLE(0, 3);
      },
      kept: 1_024,
    },
    (message, whole) => {
      const payload = message.subarray(HEADER);
      const length = whole - HEADER;
      const wasContinued = isContinued;
      isContinued = length === LONGEST_PACKET;
      if (phase === 'greeting') return greet(payload);
      if (phase === 'login') {
        if (payload[0] === 0) phase = 'open';
        return;
      }
      const answered = current();
      if (answered === undefined || wasContinued) return;
      const { code } = commands.get(answered)!;
      if (payload[0] === 0xff && state !== 'definitions') {
        const error = payload.readUInt16LE(1);
        // MariaDB reports the progress of a long statement so.
        if (error === 0xffff) return;
        answered.error = String(error);
        return end(answered);
      }
      if (state === 'first') onFirst(answered, code, payload);
      else if (state === 'rows') onRow(answered, payload, length);
      else if (--definitions === 0) {
        const isEof = payload[0] === 0xfe && length < 9;
        if (code === PREPARE) end(answered);
        else if (isEof && (payload.readUInt16LE(3) & CURSOR) !== 0) endResult(answered, 0);
        else state = 'rows';
      }
    },
  );
  const greet = (payload: Buffer): void => {
    if (payload[0] === 0xff) return;
    if (payload[0] !== 10) throw new WireError('does not answer as MySQL or MariaDB');
    const at = payload.indexOf(0, 1) + 1 + 4 + 8 + 1;
    server = payload.readUInt16LE(at) + payload.readUInt16LE(at + 5) * 0x1_0000;
    serverMore = payload.readUInt32LE(at + 14);
  };
  return {
    get isOpen() {
      return phase === 'open';
    },
    fromClient,
    fromServer,
  };
}

/** Reads an integer of one to nine bytes. */
function lengthAt(payload: Buffer, at: number): { readonly value: number; readonly next: number } {
  const first = payload[at]!;
  if (first < 0xfb) return { value: first, next: at + 1 };
  const size = { 0xfc: 2, 0xfd: 3 }[first] ?? 6;
  return { value: payload.readUIntLE(at + 1, size), next: at + 1 + (size === 6 ? 8 : size) };
}
