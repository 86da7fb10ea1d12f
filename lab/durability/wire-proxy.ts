import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { fatal, isSslRequest, MessageReader, query, sqlOf, type Message } from './wire-messages.js';

/** What happens to one statement on its way. */
export type Fault =
  /** The connection breaks before the server has seen the statement. */
  | { readonly kind: 'cut-before' }
  /** It breaks when the server has done it, and the answer is lost. */
  | { readonly kind: 'cut-after' }
  /** No answer ever, and the server has not seen it. */
  | { readonly kind: 'silent-before' }
  /** No answer ever, though the server has done it. */
  | { readonly kind: 'silent-after' }
  /**
   * The host of the receiver is lost: no answer ever, and the server is not told and waits for
   * more.
   */
  | { readonly kind: 'lost-after' }
  /** It is answered, and the server ends the connection in the very packet of the answer. */
  | { readonly kind: 'end-after' }
  | { readonly kind: 'slow'; readonly milliseconds: number }
  /**
   * The server itself fails, with this SQLSTATE (53100 is a full disk), at the first or the last
   * statement of the message.
   */
  | { readonly kind: 'error'; readonly code: string; readonly at: 'first' | 'last' };

/**
 * What the store sends after a connection was lost, to end its session on the server. It comes at a
 * time of its own, maybe during the next delivery, so it belongs to none.
 */
const CLEAN_UP = 'pg_terminate_backend';

/**
 * Stands between a receiver and PostgreSQL, knows where a statement begins and ends, and applies
 * faults to statements.
 */
export class WireProxy {
  /** The SQL of all statements of deliveries that came by. */
  readonly statements: string[] = [];
  /** Asked for each statement of a delivery. */
  fault: (sql: string) => Fault | undefined = () => undefined;
  /**
   * What happens to a new connection. `ending`: the server ends the connection in the very packet
   * that says that it is ready.
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

  /** The same database, by way of the proxy. */
  urlOf(database: string): string {
    const url = new URL(database);
    url.port = String(this.port);
    return url.href;
  }

  /**
   * Applies the fault once, to the n-th statement from now, counted from 0. Gives where to read
   * which one it was.
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

  /** Refuses new connections and cuts those there are. */
  goDown(): void {
    this.door = 'refusing';
    this.cutAll();
  }

  /** No more faults; connections that are silent are cut. */
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

/** One connection. */
class Link {
  /** Nothing goes through any more, without a word to either side. */
  silent = false;
  /** The server is not told when the client goes away. */
  lost = false;
  /** When the server is ready for a statement, the connection ends in the packet that says so. */
  endsWhenReady = false;
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #faultOf: (sql: string) => Fault | undefined;
  readonly #fromClient = new MessageReader(false);
  readonly #fromServer = new MessageReader(true);
  /** Messages of a statement whose last has not come. */
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
    // `cut` or `silent` may have been set just now. What comes before the answer's end is held back
    // with it.
    const heldBack = this.silent || this.#dropUntilError || this.#onReady !== undefined;
    if (!heldBack) this.#client.write(message.bytes);
  }
}

/** Whether the message ends the transaction, alone or after other statements. */
export function commits(sql: string): boolean {
  return /\b(commit|end)\s*;?\s*$/i.test(sql);
}

/**
 * SQL that fails on the real server, so that its transaction is in the state that a real failure
 * leaves.
 */
function failing(sql: string, code: string, at: 'first' | 'last'): string {
  const failure = `DO $$ BEGIN RAISE EXCEPTION 'a fault of the test' USING ERRCODE = '${code}'; END $$`;
  if (at === 'first') return failure;
  // A COMMIT that fails has ended the transaction; a statement after BEGIN leaves it open and
  // failed.
  if (commits(sql)) return `ROLLBACK; ${failure}`;
  return /^\s*(begin|start)\b.*;/is.test(sql) ? `BEGIN; ${failure}` : failure;
}
