/** The ways of a body to a webhook: in pieces, framed, over a transport, behind other code. */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import http2 from 'node:http2';
import net from 'node:net';
import tls from 'node:tls';
import { chunk } from '../adapters/deliveries.js';

export const SECRET = 'a-secret-of-the-portal';

/** Code in front of the webhook. A path's last segment is the index of its front. */
export const FRONTS = [
  'nothing',
  'a session store',
  'a tenant that is looked up',
  'a data listener',
  'a readable listener',
  'a readable listener and a session store',
  'a pause and a session store',
  'a hook that passes single bytes',
  'a hook with a small buffer',
] as const;
export type Front = (typeof FRONTS)[number];

export const TRANSPORTS = ['TCP', 'a small buffer', 'TLS', 'HTTP/2', 'HTTP/2 over TLS'] as const;
export type Transport = (typeof TRANSPORTS)[number];

/** How the bytes leave the sender. */
export interface Form {
  readonly name: string;
  readonly pieces: number;
  readonly framing: 'Content-Length' | 'chunked';
  /** Set if the head and all pieces are one write. */
  readonly isOnePacket: boolean;
}

/** Returns each number of pieces in each framing, in packets of their own and in one packet. */
export function formsOf(counts: readonly number[]): Form[] {
  return counts.flatMap((pieces) =>
    (['Content-Length', 'chunked'] as const).flatMap((framing) =>
      [false, true].map((isOnePacket) => {
        const packets = isOnePacket ? 'one packet' : 'as many packets';
        return { name: `${pieces} pieces, ${framing}, ${packets}`, pieces, framing, isOnePacket };
      }),
    ),
  );
}

const BODY = Buffer.from(JSON.stringify({ reference: 'order-42', note: 'n'.repeat(250) }));
const SIGNED = {
  'content-type': 'application/json',
  'x-service-event': 'payment.succeeded',
  'x-service-signature': createHmac('sha256', SECRET).update(BODY).digest('hex'),
};

function cut(pieces: number): Buffer[] {
  const at = (index: number): number => Math.floor((index * BODY.length) / pieces);
  return Array.from({ length: pieces }, (_, index) => BODY.subarray(at(index), at(index + 1)));
}

/** Returns the packets of a request over HTTP/1.1. */
function packetsOf({ pieces, framing, isOnePacket }: Form, path: string): Buffer[] {
  const length =
    framing === 'chunked' ? 'transfer-encoding: chunked' : `content-length: ${BODY.length}`;
  const lines = Object.entries(SIGNED).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST ${path} HTTP/1.1\r\nhost: shop.example\r\n${lines.join('')}${length}\r\n\r\n`;
  const chunks = cut(pieces).map((piece) => (framing === 'chunked' ? chunk(piece) : piece));
  const packets = [Buffer.from(head), ...chunks];
  if (framing === 'chunked') packets.push(Buffer.from('0\r\n\r\n'));
  return isOnePacket ? [Buffer.concat(packets)] : packets;
}

/** Lets the receiver read a packet before the next. If it is slower, two packets become one. */
const gap = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2));

/** Sends a genuine delivery, and returns the reply's status. */
export async function deliver(
  port: number,
  transport: Transport,
  path: string,
  form: Form,
): Promise<number> {
  if (transport.startsWith('HTTP/2')) return deliverOverHttp2(port, transport, path, form);
  const socket =
    transport === 'TLS'
      ? tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
      : net.connect(port, '127.0.0.1');
  try {
    await once(socket, transport === 'TLS' ? 'secureConnect' : 'connect');
    socket.setNoDelay(true);
    const reply = once(socket, 'data') as Promise<[Buffer]>;
    for (const packet of packetsOf(form, path)) {
      socket.write(packet);
      await gap();
    }
    const [bytes] = await reply;
    return Number(bytes.toString('latin1').slice(9, 12));
  } finally {
    socket.destroy();
  }
}

async function deliverOverHttp2(
  port: number,
  transport: Transport,
  path: string,
  { pieces, framing, isOnePacket }: Form,
): Promise<number> {
  const scheme = transport === 'HTTP/2' ? 'http' : 'https';
  const session = http2.connect(`${scheme}://127.0.0.1:${port}`, { rejectUnauthorized: false });
  sessions.add(session.on('error', () => undefined));
  const length = framing === 'chunked' ? {} : { 'content-length': BODY.length };
  const headers = { ':method': 'POST', ':path': path, ...SIGNED, ...length };
  const stream = session.request(headers, { endStream: false });
  const reply = once(stream, 'response') as Promise<[http2.IncomingHttpHeaders]>;
  for (const piece of cut(pieces)) {
    stream.write(piece);
    if (!isOnePacket) await gap();
  }
  stream.end();
  const [{ ':status': status }] = await reply;
  await once(stream.resume(), 'close');
  return Number(status);
}

/** Open, because a session that a client ends can abort Deno 2.9.6 (denoland/deno#36788). */
const sessions = new Set<http2.ClientHttp2Session>();

/** Ends the clients of a server that was stopped. */
export function endSessions(): void {
  for (const session of sessions) session.destroy();
  sessions.clear();
}
