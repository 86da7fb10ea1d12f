/** Exact bytes over a socket: an HTTP client would mend or refuse what an attack is about. */
import { connect } from 'node:net';

export interface WireReply {
  readonly status: number;
  /** The lines of the head, lower-case. */
  readonly head: string;
  readonly body: string;
  /** Whether the server closed the connection by itself within the time that was given to it. */
  readonly closed: boolean;
}

/** A request as bytes. A header of several values is several lines. */
export function requestBytes(
  body: Uint8Array,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  { method = 'POST', path = '/' }: { readonly method?: string; readonly path?: string } = {},
): Buffer {
  const all = { 'Content-Length': String(body.length), ...headers };
  const lines = Object.entries(all).flatMap(([name, values]) => [values ?? []].flat().map((value) => `${name}: ${value}\r\n`));
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: adapter.test\r\n${lines.join('')}\r\n`, 'latin1'), body]);
}

/**
 * Sends bytes on a connection of its own, and gives the reply as soon as it is whole.
 *
 * @param closing milliseconds to wait for the server's close after the reply
 * @throws Error when no whole reply comes in 5 s.
 */
export function exchange(port: number, bytes: Uint8Array, closing = 0): Promise<WireReply> {
  return new Promise((resolve, reject) => {
    let received = '';
    let reply: Omit<WireReply, 'closed'> | undefined;
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    const late = setTimeout(() => {
      finish(new Error(`no reply in 5 s; received: ${received || 'nothing'}`));
    }, 5_000);
    let closeTimer: NodeJS.Timeout | undefined;

    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      received += text;
      if (reply !== undefined) return;
      reply = takeReply(received);
      if (reply === undefined) return;
      clearTimeout(late);
      closeTimer = setTimeout(() => {
        finish(reply!, false);
      }, closing);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (reply === undefined) finish(new Error('the connection was closed without a reply'));
      else finish(reply, true);
    });

    function finish(outcome: Error | Omit<WireReply, 'closed'>, closed = false): void {
      clearTimeout(late);
      clearTimeout(closeTimer);
      socket.destroy();
      if (outcome instanceof Error) reject(outcome);
      else resolve({ ...outcome, closed });
    }
  });
}

/** Starts to send and goes away in the middle. */
export function breakOff(port: number, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(bytes, () => {
        socket.resetAndDestroy();
        resolve();
      });
    });
    socket.on('error', () => {
      resolve();
    });
  });
}

function takeReply(text: string): Omit<WireReply, 'closed'> | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = text.slice(0, end).toLowerCase();
  const status = Number(/^http\/1\.1 (\d{3})/.exec(head)?.[1]);
  const body = text.slice(end + 4);
  if (/\r\ntransfer-encoding: *chunked/.test(head)) {
    if (!body.endsWith('0\r\n\r\n')) return undefined;
    return { status, head, body: body.replace(/[0-9a-f]+\r\n([^]*?)\r\n/g, '$1').replace(/\r\n$/, '') };
  }
  const length = Number(/\r\ncontent-length: *(\d+)/.exec(head)?.[1] ?? 0);
  return body.length < length ? undefined : { status, head, body: body.slice(0, length) };
}
