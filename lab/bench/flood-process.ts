/** Sends requests to a port at a rate: `flood-process.ts <port>`, forked by flood.ts. */
import { connect, type Socket } from 'node:net';

const SOCKETS = 64;
const port = Number(process.argv[2]);
let requests: Buffer[] = [];
let next = 0;
let perSecond = 0;
let started = 0;
let answered = 0;

interface Lane {
  socket: Socket;
  free: boolean;
}

/** A 401 closes its connection, so each lane opens the next. */
function open(lane: Lane): void {
  lane.free = false;
  lane.socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => (lane.free = true));
  let closes = false;
  lane.socket.on('data', (bytes: Buffer) => {
    const reply = bytes.toString('latin1');
    closes ||= /^connection: close/im.test(reply);
    if (!reply.endsWith('}')) return;
    answered += 1;
    lane.free = !closes;
  });
  lane.socket.on('error', () => undefined).on('close', () => open(lane));
}

const lanes = Array.from({ length: SOCKETS }, () => ({}) as Lane);
for (const lane of lanes) open(lane);

setInterval(() => {
  if (perSecond === 0) return;
  // Sends at most the due requests. Requests without a free lane are dropped.
  let due = Math.round(((performance.now() - started) / 1000) * perSecond) - answered;
  for (const lane of lanes) {
    if (due-- <= 0) return;
    if (!lane.free) continue;
    lane.free = false;
    lane.socket.write(requests[next++ % requests.length]!);
  }
}, 1);

process.on(
  'message',
  (message: { readonly requests?: readonly string[]; readonly perSecond?: number }) => {
    if (message.requests) requests = message.requests.map((text) => Buffer.from(text, 'latin1'));
    if (message.perSecond === undefined) return;
    if (message.perSecond === 0) process.send!(answered / ((performance.now() - started) / 1000));
    perSecond = message.perSecond;
    started = performance.now();
    answered = 0;
  },
);
process.on('disconnect', () => process.exit());
process.send!('ready');
