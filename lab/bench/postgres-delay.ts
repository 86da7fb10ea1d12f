/**
 * Simulates a network between a server and its database: `postgres-delay.ts <database port>`,
 * forked by postgres.ts. Receives a number of milliseconds, and answers with a port that delays
 * each round trip by them.
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

const databasePort = Number(process.argv[2]);

interface Packet {
  readonly due: number;
  readonly to: Socket;
  readonly bytes: Buffer;
}

// Timers are too coarse for half a millisecond, so each turn of the event loop checks the pending
// packets.
const underWay: Packet[] = [];
let looking = false;
function look(): void {
  const now = performance.now();
  while (underWay[0] !== undefined && underWay[0].due <= now) {
    const { to, bytes } = underWay.shift()!;
    to.write(bytes);
  }
  looking = underWay.length > 0;
  if (looking) setImmediate(look);
}

function pass(from: Socket, to: Socket, delay: number): void {
  from.setNoDelay(true).on('error', () => to.destroy());
  from.on('close', () => to.destroy());
  from.on('data', (bytes: Buffer) => {
    underWay.push({ due: performance.now() + delay, to, bytes });
    // The ports of other delays are idle, because only one is measured at a time.
    if (!looking) look();
  });
}

process.on('message', (roundTrip: number) => {
  const server = createServer((client) => {
    const database = connect(databasePort, '127.0.0.1');
    pass(client, database, roundTrip / 2);
    pass(database, client, roundTrip / 2);
  });
  server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
});
process.on('disconnect', () => process.exit());
