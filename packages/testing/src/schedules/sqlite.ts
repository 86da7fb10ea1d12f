/** The statements of SQLite, which runs in the merchant's process: a hook there reports them. */
import { Round } from './round.js';
import { splitMessages, type Listener, type Wire } from './wire.js';

const GO = Buffer.from('.');

export function openSqliteWire({ onRound, current, onAnswer, reply }: Listener): Wire {
  const fromClient = splitMessages(
    { headerLength: () => 4, lengthOf: (header) => header.readUInt32BE(0) },
    (message) => {
      const { sql, ...answer } = JSON.parse(message.toString('utf8', 4)) as { sql?: string };
      if (sql === undefined) {
        Object.assign(current()!, answer);
        onAnswer();
        return reply(GO);
      }
      const round = new Round();
      round.statements.push(sql);
      round.parts.push(GO);
      onRound(round);
    },
  );
  return { isOpen: true, fromClient, fromServer: () => undefined };
}
