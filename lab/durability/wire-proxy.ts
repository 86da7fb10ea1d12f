import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { fatal, isSslRequest, MessageReader, query, sqlOf, type Message } from './wire-messages.js';

/** A fault of one statement. */
export type Fault =
  /** The connection breaks before the server gets the statement. */
  | { readonly kind: 'cut-before' }
  /** The connection breaks after the server ran the statement, so the answer is lost. */
  | { readonly kind: 'cut-after' }
  /** The answer never comes, and the server does not get the statement. */
  | { readonly kind: 'silent-before' }
  /** The answer never comes, although the server ran the statement. */
  | { readonly kind: 'silent-after' }
  /** The receiver's host is lost: the answer never comes, and the server waits for more. */
  | { readonly kind: 'lost-after' }
  /** The server ends the connection in the same packet as the answer. */
  | { readonly kind: 'end-after' }
  | { readonly kind: 'slow'; readonly milliseconds: number }
  /**
   * The server fails with this SQLSTATE (53100 is a full disk), at the first or last statement of
   * the message.
   */
  | { readonly kind: 'error'; readonly code: string; readonly at: 'first' | 'last' };

/**
 * The store sends this after a lost connection, to end its session on the server. It may come
 * during the next delivery, so it belongs to none.
 */
const CLEAN_UP = 'pg_terminate_backend';

/** Stands between a receiver and PostgreSQL, recognises statements, and applies faults to them. */
export class WireProxy {
  /** The SQL of all statements of deliveries so far. */
  readonly statements: string[] = [];
  /** Called for each statement of a delivery. */
  fault: (sql: string) => Fault | undefined = () => undefined;
  /**
   * The fate of a new connection. `ending`: the server ends the connection in the packet that
   * reports readiness.
   */
  door: 'open' | 'refusing' | 'silent' | 'ending' = 'open';
  readonly #server: Server;
  readonly #links = new Set<Link>();

  private constructor(serverPort: number) {
    this.#server = createServer((client) => {
      if (this.door === 'refusing') client.destroy();
      else this.#link(client, serverPort);
    });
  }

  static async before(serverPort: number): Promise<WireProxy> {
    const proxy = new WireProxy(serverPort);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Returns the database URL through the proxy. */
  urlOf(database: string): string {
    const url = new URL(database);
    url.port = String(this.port);
    return url.href;
  }

  /**
   * Applies the fault once, to the n-th next statement, counted from 0. Returns an object that
   * reports the statement.
   */
  strike(n: number, fault: Fault): { readonly sql: string | undefined } {
    const struck: { sql: string | undefined } = { sql: undefined };
    let number = 0;
    this.fault = (sql) => {
      if (number++ !== n) return undefined;
      struck.sql = sql;
      return fault;
    };
    return struck;
  }

  /** Refuses new connections and cuts the open ones. */
  goDown(): void {
    this.door = 'refusing';
    this.cutAll();
  }

  /** Ends all faults, and cuts silent connections. */
  heal(): void {
    this.fault = () => undefined;
    this.door = 'open';
    for (const link of this.#links) if (link.silent && !link.lost) link.cut();
  }

  cutAll(): void {
    for (const link of this.#links) link.cut();
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cutAll();
    await closed;
  }

  #link(client: Socket, serverPort: number): void {
    const server = connect(serverPort, '127.0.0.1');
    const link = new Link(client, server, (sql) => {
      if (sql.includes(CLEAN_UP)) return undefined;
      this.statements.push(sql);
      return this.fault(sql);
    });
    link.silent = this.door === 'silent';
    link.endsWhenReady = this.door === 'ending';
    this.#links.add(link);
    server.once('close', () => this.#links.delete(link));
  }
}

const ENDS_A_STATEMENT = new Set(['Q', 'S']);

class Link {
  /** Set if both sides get nothing more. */
  silent = false;
  /** Set if the server must not notice that the client left. */
  lost = false;
  /** Set if the connection ends in the packet that reports readiness for a statement. */
  endsWhenReady = false;
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #faultOf: (sql: string) => Fault | undefined;
  readonly #fromClient = new MessageReader(false);
  readonly #fromServer = new MessageReader(true);
  /** Messages of an unfinished statement. */
  #statement: Message[] = [];
  /** Called when the server is ready for the next statement, before the client hears of it. */
  #onReady: (() => void) | undefined;
  #dropUntilError = false;

  constructor(client: Socket, server: Socket, faultOf: (sql: string) => Fault | undefined) {
    this.#client = client;
    this.#server = server;
    this.#faultOf = faultOf;
    for (const socket of [client, server]) socket.setNoDelay(true).on('error', () => undefined);
    server.once('close', () => this.cut());
    client.once('close', () => {
      if (!this.lost) this.cut();
    });
    client.on('data', (bytes: Buffer) => {
      this.#fromClient.add(bytes);
      for (
        let message = this.#fromClient.next();
        message !== undefined;
        message = this.#fromClient.next()
      )
        this.#sent(message);
    });
    server.on('data', (bytes: Buffer) => {
      this.#fromServer.add(bytes);
      for (
        let message = this.#fromServer.next();
        message !== undefined;
        message = this.#fromServer.next()
      )
        this.#answered(message);
    });
  }

  cut(): void {
    this.silent = true;
    this.#client.destroy();
    this.#server.destroy();
  }

  #sent(message: Message): void {
    if (this.silent) return;
    if (!this.#fromClient.typed) {
      if (isSslRequest(message)) {
        this.#client.write('N');
        return;
      }
      this.#fromClient.typed = true;
      this.#server.write(message.bytes);
      return;
    }
    if (message.type === 'X') {
      this.#server.write(message.bytes);
      return;
    }
    this.#statement.push(message);
    if (!ENDS_A_STATEMENT.has(message.type)) return;
    const statement = this.#statement;
    this.#statement = [];
    this.#pass(statement);
  }

  #pass(statement: readonly Message[]): void {
    const sql = statement.map(sqlOf).find((text) => text !== undefined) ?? '';
    const bytes = Buffer.concat(statement.map((message) => message.bytes));
    const fault = this.#faultOf(sql);
    switch (fault?.kind) {
      case undefined:
        this.#server.write(bytes);
        return;
      case 'cut-before':
        this.cut();
        return;
      case 'silent-before':
        this.silent = true;
        return;
      case 'cut-after':
        this.#onReady = () => this.cut();
        this.#server.write(bytes);
        return;
      case 'silent-after':
        this.#onReady = () => (this.silent = true);
        this.#server.write(bytes);
        return;
      case 'lost-after':
        this.#onReady = () => (this.silent = this.lost = true);
        this.#server.write(bytes);
        return;
      case 'end-after':
        this.endsWhenReady = true;
        this.#server.write(bytes);
        return;
      case 'slow':
        setTimeout(() => this.#server.write(bytes), fault.milliseconds);
        return;
      case 'error':
        this.#dropUntilError = true;
        this.#server.write(query(failing(sql, fault.code, fault.at)));
    }
  }

  #answered(message: Message): void {
    if (this.silent) return;
    if (message.type === 'Z' && this.endsWhenReady) {
      this.silent = true;
      this.#client.end(
        Buffer.concat([
          message.bytes,
          fatal('57P01', 'terminating connection due to administrator command'),
        ]),
      );
      return;
    }
    if (message.type === 'Z') {
      this.#onReady?.();
      this.#onReady = undefined;
    }
    if (message.type === 'E') this.#dropUntilError = false;
    // `cut` or `silent` may have just been set. This holds everything before the answer's end.
    const heldBack = this.silent || this.#dropUntilError || this.#onReady !== undefined;
    if (!heldBack) this.#client.write(message.bytes);
  }
}

/** Returns true if the message ends the transaction, alone or after other statements. */
export function commits(sql: string): boolean {
  return /\b(commit|end)\s*;?\s*$/i.test(sql);
}

/**
 * Returns SQL that fails on the real server, so that the transaction gets the state of a real
 * failure.
 */
function failing(sql: string, code: string, at: 'first' | 'last'): string {
  const failure = `DO $$ BEGIN RAISE EXCEPTION 'a fault of the test' USING ERRCODE = '${code}'; END $$`;
  if (at === 'first') return failure;
  // A failed COMMIT ends the transaction. A failed statement after BEGIN leaves it open and failed.
  if (commits(sql)) return `ROLLBACK; ${failure}`;
  return /^\s*(begin|start)\b.*;/is.test(sql) ? `BEGIN; ${failure}` : failure;
}
