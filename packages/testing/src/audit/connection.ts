/** Exact bytes to a server, over TCP or TLS: an HTTP client would mend or refuse what an attack is about. */
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Where to, and how long to wait there. */
export interface Target {
  readonly url: URL;
  /** Milliseconds for each answer. */
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
}

export interface RawReply {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

/** What came of waiting: a reply, the server’s close, or nothing in time. */
export type Answer = RawReply | 'closed' | 'no answer';

/** One connection, for one request. */
export class Connection {
  #received = Buffer.alloc(0);
  #ended = false;
  #wake: () => void = () => undefined;
  readonly #socket: Socket;
  readonly #target: Target;

  private constructor(socket: Socket, target: Target) {
    this.#socket = socket;
    this.#target = target;
    const end = (): void => {
      this.#ended = true;
      this.#wake();
    };
    socket.on('data', (bytes: Buffer) => {
      this.#received = Buffer.concat([this.#received, bytes]);
      this.#wake();
    });
    // A reset is an end like another: what came before it counts.
    socket.on('error', end).on('end', end).on('close', end);
    target.signal?.addEventListener('abort', this.destroy, { once: true });
  }

  /** @throws the socket's error, and what the signal was aborted with. */
  static open(target: Target): Promise<Connection> {
    const { url, timeout, signal } = target;
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const { socket, ready } = socketTo(url);
      const fail = (error: unknown): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        socket.destroy();
        reject(error);
      };
      const abort = (): void => fail(signal?.reason);
      const timer = setTimeout(() => {
        fail(Object.assign(new Error(`no connection in ${timeout} ms`), { code: 'ETIMEDOUT' }));
      }, timeout);
      signal?.addEventListener('abort', abort, { once: true });
      socket.once('error', fail);
      socket.once(ready, () => {
        clearTimeout(timer);
        socket.off('error', fail);
        signal?.removeEventListener('abort', abort);
        resolve(new Connection(socket, target));
      });
    });
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Resolves when the bytes are handed over, or when the server takes no more of them. */
  write(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      if (this.#ended) {
        resolve();
        return;
      }
      // A server that stops reading, and one that has gone, would keep this waiting.
      const stop = setTimeout(resolve, this.#target.timeout);
      const done = (): void => {
        clearTimeout(stop);
        this.#socket.off('close', done);
        resolve();
      };
      this.#socket.once('close', done);
      this.#socket.write(bytes, done);
    });
  }

  /** Says that no more will come. */
  finish(): void {
    this.#socket.end();
  }

  /** Goes away without a word. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  readonly destroy = (): void => {
    this.#target.signal?.removeEventListener('abort', this.destroy);
    this.#socket.destroy();
  };

  /** The next reply, also an interim one of 1xx. */
  async answer(method = 'POST', timeout = this.#target.timeout): Promise<Answer> {
    const late = performance.now() + timeout;
    for (;;) {
      this.#target.signal?.throwIfAborted();
      const taken = takeReply(this.#received, method, this.#ended);
      if (taken !== undefined) {
        this.#received = this.#received.subarray(taken.length);
        return taken.reply;
      }
      if (this.#ended) return 'closed';
      const left = late - performance.now();
      if (left <= 0) return 'no answer';
      await this.#change(left);
    }
  }

  /** Waits until something has come, or the connection has ended, or the time is over. */
  #change(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function socketTo(url: URL): { socket: Socket; ready: 'connect' | 'secureConnect' } {
  // Brackets are of the URL, not of the address.
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (url.protocol === 'http:') return { socket: connect(Number(url.port || 80), host), ready: 'connect' };
  const name = isIP(host) === 0 ? { servername: host } : {};
  return {
    socket: connectTls({ host, port: Number(url.port || 443), ALPNProtocols: ['http/1.1'], ...name }),
    ready: 'secureConnect',
  };
}

function takeReply(bytes: Buffer, method: string, ended: boolean): { reply: RawReply; length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1] ?? 0);
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  const header = (name: string): string | undefined => headers.find(([each]) => each === name)?.[1];
  const rest = bytes.subarray(end + 4);
  const done = (body: Buffer, length: number) => ({ reply: { status, headers, body }, length: end + 4 + length });

  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return done(Buffer.alloc(0), 0);
  if (/chunked/i.test(header('transfer-encoding') ?? '')) {
    const unchunked = takeChunks(rest);
    if (unchunked !== undefined) return done(unchunked.body, unchunked.length);
    return ended ? done(rest, rest.length) : undefined;
  }
  const declared = header('content-length');
  if (declared === undefined) return ended ? done(rest, rest.length) : undefined;
  const length = Number(declared);
  return rest.length >= length || ended ? done(rest.subarray(0, length), Math.min(length, rest.length)) : undefined;
}

function takeChunks(bytes: Buffer): { body: Buffer; length: number } | undefined {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const size = Number.parseInt(bytes.subarray(at, line).toString('latin1'), 16);
    const start = line + 2;
    if (size === 0 || Number.isNaN(size)) {
      const end = bytes.indexOf('\r\n', start);
      return end < 0 ? undefined : { body: Buffer.concat(chunks), length: end + 2 };
    }
    if (bytes.length < start + size + 2) return undefined;
    chunks.push(bytes.subarray(start, start + size));
    at = start + size + 2;
  }
}
