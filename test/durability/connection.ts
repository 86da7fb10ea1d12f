import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Long past every time limit of the receiver: a reply that takes longer never comes. */
const REPLY_TIMEOUT = 30_000;

/** The receiver went away before its reply was complete: what became of the delivery is unknown. */
export class ConnectionCut extends Error {
  override name = 'ConnectionCut';
}

/** No receiver listens: the delivery has not left. */
export class Unreachable extends Error {
  override name = 'Unreachable';
}

/** A kept-alive connection of a sender: one request at a time, on a bare socket, so that nothing is resent behind our back. */
export class Connection {
  readonly #socket: Socket;
  #received = '';
  #waiting: { resolve(status: number): void; reject(error: Error): void } | undefined;
  /** Whether another request can follow. */
  open = true;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true).setEncoding('latin1').setTimeout(REPLY_TIMEOUT);
    socket.on('data', (text: string) => {
      this.#received += text;
      this.#read();
    });
    socket.on('timeout', () => {
      this.#end(new Error(`no reply within ${REPLY_TIMEOUT} ms`));
    });
    socket.on('error', () => {
      this.#end(new ConnectionCut('reset by the receiver'));
    });
    socket.on('close', () => {
      this.#end(new ConnectionCut('closed by the receiver'));
    });
  }

  /** @throws Unreachable */
  static async to(port: number): Promise<Connection> {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
    } catch (cause) {
      throw new Unreachable('no receiver listens', { cause });
    }
    return new Connection(socket);
  }

  /** Sends a whole request and gives the status of the reply. @throws ConnectionCut */
  send(request: Buffer): Promise<number> {
    return new Promise((resolve, reject) => {
      if (!this.open) {
        reject(new ConnectionCut('closed before the request'));
        return;
      }
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  /** Sends the first bytes of a request, and goes away when they are out. */
  async abandon(bytes: Buffer): Promise<void> {
    this.open = false;
    this.#socket.end(bytes);
    await once(this.#socket, 'finish');
    this.#socket.destroy();
  }

  close(): void {
    this.open = false;
    this.#socket.destroy();
  }

  #read(): void {
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.#received.slice(0, end);
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
    if (this.#received.length < end + 4 + length) return;
    this.#received = this.#received.slice(end + 4 + length);
    if (/^connection: close/im.test(head)) this.open = false;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)));
  }

  #end(error: Error): void {
    this.open = false;
    this.#socket.destroy();
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }
}

/** Idle connections by port. */
export class Connections {
  readonly #idle = new Map<number, Connection[]>();

  /** Sends a request over an idle connection or a new one. @throws ConnectionCut, Unreachable */
  async send(port: number, request: Buffer): Promise<number> {
    const connection = this.#take(port) ?? (await Connection.to(port));
    const status = await connection.send(request);
    if (connection.open) this.#idleOf(port).push(connection);
    else connection.close();
    return status;
  }

  close(): void {
    for (const connection of [...this.#idle.values()].flat()) connection.close();
    this.#idle.clear();
  }

  #take(port: number): Connection | undefined {
    const idle = this.#idleOf(port);
    let connection = idle.pop();
    while (connection?.open === false) connection = idle.pop();
    return connection;
  }

  #idleOf(port: number): Connection[] {
    const idle = this.#idle.get(port) ?? [];
    this.#idle.set(port, idle);
    return idle;
  }
}
