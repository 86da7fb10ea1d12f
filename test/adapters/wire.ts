import net from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';

/** How the other side closed: in order, or by a reset. */
export type Ending = 'FIN' | 'RST';

export interface WireReply {
  readonly status: number;
  /** By lower-case name; the values of a repeated one joined with ", ". */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** The reply as it came. */
  readonly bytes: Buffer;
}

const open = new Set<Wire>();

/** Ends whatever connections a test has left. */
export function closeWires(): void {
  for (const wire of open) wire.reset();
}

/** One TCP connection on which exact bytes are sent: an HTTP client would mend or refuse what these tests are about. */
export class Wire {
  /** How the server closed, once it has. */
  ending: Ending | undefined;
  #received = Buffer.alloc(0);
  #changed = (): void => undefined;
  readonly #socket: net.Socket;

  private constructor(socket: net.Socket) {
    this.#socket = socket;
    // Half open, so that the server's close is seen as what it is and not answered with ours.
    socket.on('data', (bytes) => {
      this.#received = Buffer.concat([this.#received, bytes]);
      this.#changed();
    });
    socket.on('end', () => {
      this.#end('FIN');
    });
    socket.on('error', () => {
      this.#end('RST');
    });
    socket.on('close', () => open.delete(this));
    open.add(this);
  }

  static async open(port: number): Promise<Wire> {
    const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    const wire = new Wire(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve).once('error', reject);
    });
    return wire;
  }

  /** Sends each piece by itself, with turns of the event loop between them in which the server can read. */
  async send(...pieces: readonly (Buffer | string)[]): Promise<void> {
    for (const piece of pieces) {
      await this.write(piece);
      await turn();
      await turn();
    }
  }

  /** Hands a piece to the kernel. */
  write(piece: Buffer | string): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.write(piece, 'latin1', () => {
        resolve();
      });
    });
  }

  /** Reads nothing from here on, as a sender does that is busy sending. */
  hold(): void {
    this.#socket.pause();
  }

  release(): void {
    this.#socket.resume();
  }

  /** Sends the end of our side (FIN). */
  finish(): void {
    this.#socket.end();
  }

  /** Breaks the connection (RST). */
  reset(): void {
    open.delete(this);
    this.#socket.resetAndDestroy();
  }

  /** The next reply, `100 Continue` too. `to` is the method it answers: a reply to HEAD has no body. */
  async reply(to = 'POST', milliseconds = 4_000): Promise<WireReply> {
    let taken: WireReply | undefined;
    await this.#until(
      () => (taken = takeReply(this.#received, to, this.ending !== undefined)) !== undefined,
      milliseconds,
      'a reply',
    );
    this.#received = this.#received.subarray(taken!.bytes.length);
    return taken!;
  }

  /** Resolves once the server has closed, and with no byte more than the replies that were read. */
  async closed(milliseconds = 2_000): Promise<Ending> {
    await this.#until(() => this.ending !== undefined, milliseconds, 'the close');
    if (this.#received.length > 0) throw new Error(`bytes after the reply: ${this.#received.toString('latin1')}`);
    return this.ending!;
  }

  #end(ending: Ending): void {
    // A reset after the end in order says more: the server has let go of the socket.
    this.ending = ending;
    this.#changed();
  }

  #until(reached: () => boolean, milliseconds: number, what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const got = this.#received.toString('latin1').slice(0, 500);
        reject(
          new Error(`no sign of ${what} in ${milliseconds} ms; closed: ${this.ending ?? 'no'}; received: ${got || 'nothing'}`),
        );
      }, milliseconds);
      this.#changed = () => {
        if (!reached()) {
          if (this.ending === undefined || what !== 'a reply') return;
          clearTimeout(timer);
          reject(new Error(`closed by ${this.ending} without a reply`));
          return;
        }
        clearTimeout(timer);
        this.#changed = () => undefined;
        resolve();
      };
      this.#changed();
    });
  }
}

/** Opens a connection and sends the pieces. */
export async function begin(port: number, ...pieces: readonly (Buffer | string)[]): Promise<Wire> {
  const wire = await Wire.open(port);
  await wire.send(...pieces);
  return wire;
}

/** Sends one request on a connection of its own and gives the reply. */
export async function exchange(
  port: number,
  ...pieces: readonly (Buffer | string)[]
): Promise<WireReply & { readonly wire: Wire }> {
  const [first = ''] = pieces;
  const method = first.toString('latin1').split(' ', 1)[0];
  const wire = await begin(port, ...pieces);
  return { ...(await wire.reply(method)), wire };
}

/** The first whole reply in the bytes, if there is one. */
function takeReply(bytes: Buffer, method: string, closed: boolean): WireReply | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.[01] (\d{3}) /.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw new Error(`no reply: ${statusLine}`);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers.set(name, headers.has(name) ? `${headers.get(name)!}, ${value}` : value);
  }
  const start = end + 4;
  const rest = bytes.subarray(start);
  const made = (body: Buffer, length: number): WireReply => ({
    status,
    headers,
    body: body.toString('utf8'),
    bytes: bytes.subarray(0, start + length),
  });

  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return made(Buffer.alloc(0), 0);
  if (headers.get('transfer-encoding') === 'chunked') {
    const chunks = takeChunks(rest);
    return chunks && made(chunks.body, chunks.length);
  }
  const declared = headers.get('content-length');
  if (declared === undefined) return closed ? made(rest, rest.length) : undefined;
  const length = Number(declared);
  return rest.length < length ? undefined : made(rest.subarray(0, length), length);
}

function takeChunks(bytes: Buffer): { readonly body: Buffer; readonly length: number } | undefined {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const size = Number.parseInt(bytes.subarray(at, line).toString('latin1'), 16);
    const next = line + 2 + size + 2;
    if (bytes.length < next) return undefined;
    if (size === 0) return { body: Buffer.concat(chunks), length: next };
    chunks.push(bytes.subarray(line + 2, line + 2 + size));
    at = next;
  }
}
