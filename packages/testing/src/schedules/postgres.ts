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

export function openPostgresWire({ onRound, current, onAnswer, reply, note }: Listener): Wire {
  let phase: 'startup' | 'login' | 'open' = 'startup';
  let isCopying = false;
  let round = new Round();
  const prepared = new Map<string, string>();
  const portals = new Map<string, string>();

  const pass = (message: Buffer): void => {
    const bytes = new Round(false);
    bytes.parts.push(message);
    onRound(bytes);
  };
  const start = (message: Buffer): void => {
    const code = message.length >= 8 ? message.readInt32BE(4) : 0;
    if (code === TLS_REQUEST || code === GSS_REQUEST) {
      if (code === TLS_REQUEST)
        note('asked for TLS, which was refused: connect without it, with ?sslmode=disable');
      return reply(Buffer.from('N'));
    }
    if (code !== CANCEL_REQUEST) {
      if (code >> 16 !== 3) throw new WireError('does not speak version 3 of the protocol');
      phase = 'login';
    }
    pass(message);
  };
  const end = (): void => {
    onRound(round);
    round = new Round();
  };

  const fromClient = splitMessages(
    {
      headerLength: () => (phase === 'startup' ? 4 : 5),
      lengthOf: (header) =>
        phase === 'startup' ? header.readUInt32BE(0) : 1 + header.readUInt32BE(1),
    },
    (message) => {
      if (phase === 'startup') return start(message);
      const type = String.fromCharCode(message[0]!);
      if (phase === 'login' || 'Xdcf'.includes(type) || (isCopying && 'SH'.includes(type)))
        return pass(message);
      round.parts.push(message);
      if (type === 'Q') round.statements.push(textAt(message, 5));
      // A call of a function by its number.
      if (type === 'F') round.statements.push('CALL');
      const name = textAt(message, 5);
      const next = 6 + Buffer.byteLength(name);
      if (type === 'P') prepared.set(name, textAt(message, next));
      if (type === 'B') portals.set(name, prepared.get(textAt(message, next)) ?? '');
      if (type === 'E') round.statements.push(portals.get(name) ?? '');
      if (type === 'H') {
        round.completions = round.parts.filter((part) => part[0] === 0x45).length;
        if (round.completions === 0) return passRound();
      }
      // The server commits at the end that the client asks for, and not before.
      round.notRun = round.statements.length;
      if (type === 'S' && round.notRun > 0) round.flush = FLUSH;
      if ('QSFH'.includes(type)) end();
    },
  );
  const passRound = (): void => {
    for (const part of round.parts) pass(part);
    round = new Round();
  };

  const fromServer = splitMessages(
    {
      headerLength: () => 5,
      lengthOf: (header) => {
        if (phase !== 'open' && !AT_LOGIN.includes(String.fromCharCode(header[0]!)))
          throw new WireError('does not answer as PostgreSQL');
        return 1 + header.readUInt32BE(1);
      },
      kept: KEPT,
    },
    (message) => {
      const type = String.fromCharCode(message[0]!);
      const answered = current();
      if (type === 'Z') {
        phase = 'open';
        isCopying = false;
        if (answered === undefined) return;
        answered.isInTransaction = message[5] !== 0x49;
        return onAnswer();
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
      if (answered.completions > 0 && 'CsIE'.includes(type)) {
        answered.completions -= 1;
        // The transaction stays open up to the end that the client asks for later.
        answered.isInTransaction = true;
        if (answered.completions === 0 || type === 'E') onAnswer();
      }
    },
  );
  return {
    get isOpen() {
      return phase === 'open';
    },
    fromClient,
    fromServer,
  };
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
