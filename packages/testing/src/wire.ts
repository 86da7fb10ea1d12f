/** Sends exact bytes over TCP or TLS, because an HTTP client would correct or refuse an attack. */
import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';

/** FIN: the server closed the connection. RST: the server reset the connection. */
type Ending = 'FIN' | 'RST';

export interface WireReply {
  readonly status: number;
  /** Headers by lower-case name. The values of a repeated header are joined with ", ". */
  readonly headers: ReadonlyMap<string, string>;
  /** The body as UTF-8, without chunk framing. */
  readonly body: string;
  /** The unchanged reply. */
  readonly bytes: Buffer;
}

/** A reply, a close by the server, or neither within the time limit. */
export type WireAnswer = WireReply | 'closed' | 'no answer';

/** A port of 127.0.0.1, or the origin of a URL. */
type WireTarget = number | URL;

interface WireOptions {
  /** Milliseconds until a connection counts as failed. Default 5,000. */
  readonly timeout?: number | undefined;
  /** Breaks the connection. */
  readonly signal?: AbortSignal | undefined;
}

/** Header lines in Latin-1, in the order of sending. */
export type HeaderLines = readonly (readonly [name: string, value: string])[];

const open = new Set<Wire>();

/** Breaks every open connection. */
export function closeWires(): void {
  for (const wire of open) wire.reset();
}

/** A connection that sends exact bytes. */
export class Wire {
  /** Set after the server closed the connection. */
  ending: Ending | undefined;
  #received = Buffer.alloc(0);
  #changed = (): void => undefined;

  private constructor(
    /** Half open: a close by the server leaves this side open. */
    readonly socket: Socket,
    readonly signal: AbortSignal | undefined,
  ) {
    socket.on('data', (bytes) => {
      this.#received = Buffer.concat([this.#received, bytes]);
      this.#changed();
    });
    socket.on('end', () => this.#end('FIN'));
    // A reset after a close replaces FIN, because it shows that the server released the socket.
    socket.on('error', () => this.#end('RST'));
    socket.on('close', () => {
      open.delete(this);
      signal?.removeEventListener('abort', this.destroy);
      this.#end(this.ending ?? 'FIN');
    });
    signal?.addEventListener('abort', this.destroy, { once: true });
    open.add(this);
  }

  /**
   * @throws the socket's error with its code, an Error with the code ETIMEDOUT, or the signal's
   *   reason
   */
  static async open(
    target: WireTarget,
    { timeout = 5_000, signal }: WireOptions = {},
  ): Promise<Wire> {
    signal?.throwIfAborted();
    const { socket, ready } = socketTo(target);
    const limit = new AbortController();
    const timer = startTimer(timeout, () => limit.abort());
    const end = AbortSignal.any([limit.signal, ...(signal === undefined ? [] : [signal])]);
    try {
      await once(socket, ready, { signal: end });
    } catch (error) {
      socket.on('error', () => undefined).destroy();
      signal?.throwIfAborted();
      if (!limit.signal.aborted) throw error;
      throw Object.assign(new Error(`no connection in ${timeout} ms`), { code: 'ETIMEDOUT' });
    } finally {
      clearTimeout(timer);
    }
    return new Wire(socket, signal);
  }

  /** Sends the pieces in turn. The event loop runs between them, so that the server can read. */
  async send(...pieces: readonly (Uint8Array | string)[]): Promise<void> {
    for (const piece of pieces) {
      await this.write(piece);
      await turn();
      await turn();
    }
  }

  /** Resolves when the kernel has the bytes, when the connection has ended, or after `timeout`. */
  write(piece: Uint8Array | string, timeout = 5_000): Promise<void> {
    return new Promise((resolve) => {
      // Without a limit, a server that stops reading would block this promise.
      const stop = setTimeout(resolve, timeout);
      this.socket.write(piece, 'latin1', () => {
        clearTimeout(stop);
        resolve();
      });
    });
  }

  /** Sends a FIN. */
  finish(): void {
    this.socket.end();
  }

  /** Sends an RST. */
  reset(): void {
    open.delete(this);
    this.socket.resetAndDestroy();
  }

  readonly destroy = (): void => void this.socket.destroy();

  /**
   * Returns the next reply, even an interim 1xx. `to` is the request's method, because a reply to
   * HEAD has no body.
   */
  async answer(to = 'POST', milliseconds = 4_000): Promise<WireAnswer> {
    let taken: WireReply | undefined;
    const isOver = (): boolean =>
      this.signal?.aborted === true ||
      (taken = takeReply(this.#received, to, this.ending !== undefined)) !== undefined ||
      this.ending !== undefined;
    const isInTime = await this.#until(isOver, milliseconds);
    this.signal?.throwIfAborted();
    if (taken === undefined) return isInTime ? 'closed' : 'no answer';
    this.#received = this.#received.subarray(taken.bytes.length);
    return taken;
  }

  /** Like `answer`. @throws Error without a reply */
  async reply(to = 'POST', milliseconds = 4_000): Promise<WireReply> {
    const answer = await this.answer(to, milliseconds);
    if (typeof answer !== 'string') return answer;
    const received = this.#received.toString('latin1').slice(0, 500) || 'nothing';
    const reason =
      answer === 'closed'
        ? `closed by ${this.ending} without a reply`
        : `no reply in ${milliseconds} ms`;
    throw new Error(`${reason}, received: ${received}`);
  }

  /** Resolves after the server closed without more bytes. @throws Error otherwise */
  async closed(milliseconds = 2_000): Promise<Ending> {
    const isInTime = await this.#until(() => this.ending !== undefined, milliseconds);
    if (!isInTime) throw new Error(`the server did not close in ${milliseconds} ms`);
    const rest = this.#received.toString('latin1');
    if (rest !== '') throw new Error(`bytes after the reply: ${rest}`);
    return this.ending!;
  }

  #end(ending: Ending): void {
    this.ending = ending;
    this.#changed();
  }

  async #until(reached: () => boolean, milliseconds: number): Promise<boolean> {
    let [isReached, isLate] = [false, false];
    const timer = startTimer(milliseconds, () => {
      isLate = true;
      this.#changed();
    });
    while (!(isReached = reached()) && !isLate) {
      await new Promise<void>((resolve) => (this.#changed = resolve));
    }
    clearTimeout(timer);
    return isReached;
  }
}

/** Opens a connection and sends the pieces. */
export async function begin(
  target: WireTarget,
  ...pieces: readonly (Uint8Array | string)[]
): Promise<Wire> {
  const wire = await Wire.open(target);
  await wire.send(...pieces);
  return wire;
}

/**
 * Sends one request on a new connection and returns the reply. @throws Error without a reply in 4 s
 */
export async function exchange(
  target: WireTarget,
  ...pieces: readonly (Uint8Array | string)[]
): Promise<WireReply & { readonly wire: Wire }> {
  const [method] = Buffer.from(pieces[0] as string)
    .toString('latin1', 0, 16)
    .split(' ');
  const wire = await begin(target, ...pieces);
  return { ...(await wire.reply(method)), wire };
}

/** Returns a request as bytes. Sends a Content-Length only if `lines` has one. */
export function requestBytes(
  lines: HeaderLines,
  body: Uint8Array,
  { method = 'POST', path = '/' }: { readonly method?: string; readonly path?: string } = {},
): Buffer {
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${head}\r\n`, 'latin1'), body]);
}

/** Returns the body in chunks of `size` bytes, with the empty last chunk. */
export function chunked(body: Uint8Array, size = Math.max(1, body.length)): Buffer {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < body.length; at += size) {
    const piece = body.subarray(at, at + size);
    chunks.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')]);
}

/**
 * Calls `end` after the time limit. Lets the event loop read the received bytes first, because a
 * busy process runs its timers before it reads.
 */
function startTimer(milliseconds: number, end: () => void): NodeJS.Timeout {
  return setTimeout(() => void turn().then(end), milliseconds);
}

function socketTo(target: WireTarget): { socket: Socket; ready: 'connect' | 'secureConnect' } {
  const url = typeof target === 'number' ? new URL(`http://127.0.0.1:${target}`) : target;
  const isTls = url.protocol === 'https:';
  // The brackets of an IPv6 address belong to the URL.
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port || (isTls ? 443 : 80));
  const options = { allowHalfOpen: true, noDelay: true, host, port };
  if (!isTls) return { socket: connect(options), ready: 'connect' };
  const name = isIP(host) === 0 ? { servername: host } : {};
  const tls = connectTls({ ...options, ALPNProtocols: ['http/1.1'], ...name });
  return { socket: tls, ready: 'secureConnect' };
}

/** Returns the first whole reply in the bytes. A closed connection completes a reply. */
function takeReply(bytes: Buffer, method: string, isClosed: boolean): WireReply | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1] ?? 0);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers.set(name, headers.has(name) ? `${headers.get(name)!}, ${value}` : value);
  }
  const rest = bytes.subarray(end + 4);
  const made = (body: Buffer, length = body.length): WireReply => ({
    status,
    headers,
    body: body.toString('utf8'),
    bytes: bytes.subarray(0, end + 4 + length),
  });
  if (method === 'HEAD' || status < 200 || status === 204 || status === 304)
    return made(Buffer.alloc(0));
  const isChunked = /chunked/i.test(headers.get('transfer-encoding') ?? '');
  const chunks = isChunked ? takeChunks(rest) : undefined;
  if (chunks !== undefined) return made(chunks.body, chunks.length);
  const length = isChunked ? Infinity : Number(headers.get('content-length') ?? Infinity);
  return rest.length < length && !isClosed ? undefined : made(rest.subarray(0, length));
}

function takeChunks(bytes: Buffer): { readonly body: Buffer; readonly length: number } | undefined {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const size = Number.parseInt(bytes.subarray(at, line).toString('latin1'), 16) || 0;
    const next = line + 2 + size + 2;
    if (bytes.length < next) return undefined;
    if (size === 0) return { body: Buffer.concat(chunks), length: next };
    chunks.push(bytes.subarray(line + 2, line + 2 + size));
    at = next;
  }
}
