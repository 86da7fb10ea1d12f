/** The statements of SQLite, which runs in the merchant's process: a hook there reports them. */
import { Round } from './round.js';
import { splitMessages, type Listener, type Wire } from './wire.js';

const GO = Buffer.from('.');

export function openSqliteWire(listener: Listener): Wire {
  const fromClient = splitMessages(
    (bytes) => (bytes.length < 4 ? undefined : bytes.readUInt32BE(0)),
    (message) => {
      const { sql, ...answer } = JSON.parse(message.toString('utf8', 4)) as { sql?: string };
      if (sql === undefined) {
        Object.assign(listener.current!, answer);
        listener.onAnswer();
        return listener.reply(GO);
      }
      listener.onRound(new Round([sql], [GO]));
    },
  );
  listener.isOpen = true;
  return { fromClient, fromServer: () => undefined };
}
