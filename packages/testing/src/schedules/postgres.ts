/** The protocol of PostgreSQL, version 3 (the manual's chapter "Frontend/Backend Protocol"). */
import { Round } from './round.js';
import { splitMessages, WireError, type Listener, type Wire } from './wire.js';

const TLS_REQUEST = 80_877_103;
const GSS_REQUEST = 80_877_104;
const CANCEL_REQUEST = 80_877_102;
const FLUSH = Buffer.of(0x48, 0, 0, 0, 4);
/** The types that a server may send before the login's end. */
const AT_LOGIN = 'RENSKvZ';
/** Enough for a command's tag and for the code of an error. */
const KEPT = 1_024;

const textAt = (message: Buffer, at: number): string =>
  message.toString('utf8', at, message.indexOf(0, at));

export function openPostgresWire(listener: Listener): Wire {
  let isStarted = false;
  let isCopying = false;
  let round = new Round();
  const prepared = new Map<string, string>();
  const portals = new Map<string, string>();

  const pass = (message: Buffer): void => listener.onRound(new Round([], [message], false));
  const start = (message: Buffer): void => {
    const code = message.length >= 8 ? message.readInt32BE(4) : 0;
    if (code === TLS_REQUEST || code === GSS_REQUEST) {
      if (code === TLS_REQUEST)
        listener.note(
          'asked for TLS, which was refused: connect without it, with ?sslmode=disable',
        );
      return listener.reply(Buffer.from('N'));
    }
    if (code !== CANCEL_REQUEST) {
      if (code >> 16 !== 3) throw new WireError('does not speak version 3 of the protocol');
      isStarted = true;
    }
    pass(message);
  };

  const fromClient = splitMessages(
    (bytes) => lengthOf(bytes, isStarted ? 1 : 0),
    (message) => {
      if (!isStarted) return start(message);
      const type = String.fromCharCode(message[0]!);
      if (!listener.isOpen || 'Xdcf'.includes(type) || (isCopying && 'SH'.includes(type)))
        return pass(message);
      round.parts.push(message);
      const name = textAt(message, 5);
      const next = 6 + Buffer.byteLength(name);
      if (type === 'Q') round.statements.push(name);
      // A call of a function by its number.
      if (type === 'F') round.statements.push('CALL');
      if (type === 'P') prepared.set(name, textAt(message, next));
      if (type === 'B') portals.set(name, prepared.get(textAt(message, next)) ?? '');
      if (type === 'E') round.statements.push(portals.get(name) ?? '');
      round.notRun = round.statements.length;
      round.isFlushed = type === 'H';
      // The server commits at the end that the client asks for, and not before.
      if (type === 'S' && round.notRun > 0) round.flush = FLUSH;
      if (!'QSFH'.includes(type)) return;
      if (round.isFlushed && round.notRun === 0) for (const part of round.parts) pass(part);
      else listener.onRound(round);
      round = new Round();
    },
  );

  const fromServer = splitMessages(
    (bytes) => {
      if (!listener.isOpen && !AT_LOGIN.includes(String.fromCharCode(bytes[0]!)))
        throw new WireError('does not answer as PostgreSQL');
      return lengthOf(bytes, 1);
    },
    (message) => {
      const type = String.fromCharCode(message[0]!);
      const answered = listener.current;
      if (type === 'Z') {
        listener.isOpen = true;
        isCopying = false;
        if (answered === undefined) return;
        answered.isInTransaction = message[5] !== 0x49;
        return listener.onAnswer();
      }
      if (type === 'G') isCopying = true;
      if (answered === undefined) return;
      if ('CIs'.includes(type)) answered.notRun -= 1;
      if (type === 'E') {
        answered.notRun = 0;
        answered.error = codeOf(message);
      }
      if (type === 'C') {
        isCopying = false;
        const [rows] = /\d+$/.exec(textAt(message, 5)) ?? [];
        if (rows !== undefined) answered.rows = (answered.rows ?? 0) + Number(rows);
      }
      if (answered.isFlushed && answered.notRun <= 0) {
        // The transaction stays open up to the end that the client asks for later.
        answered.isInTransaction = true;
        listener.onAnswer();
      }
    },
    KEPT,
  );
  return { fromClient, fromServer };
}

/** @param at the place of the length, which counts itself, but not the type before it */
function lengthOf(bytes: Buffer, at: number): number | undefined {
  if (bytes.length < at + 4) return undefined;
  const length = bytes.readUInt32BE(at);
  return length < 4 ? Number.NaN : at + length;
}

/** Returns the SQLSTATE of an error. */
function codeOf(message: Buffer): string {
  for (let at = 5; at < message.length && message[at] !== 0;) {
    const value = textAt(message, at + 1);
    if (message[at] === 0x43) return value;
    at += 2 + Buffer.byteLength(value);
  }
  return 'unknown';
}
