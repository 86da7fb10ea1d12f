/**
 * Stands between one process and its database, on loopback. Sends every byte unchanged, and holds
 * rounds until they are released.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Changes } from './changes.js';
import type { Database } from './database.js';
import { WireError } from './messages.js';
import type { Round } from './round.js';
import type { Listener, Wire } from './wire.js';

export class Proxy {
  /** While true, rounds wait for `release`, unless they touch no order. */
  isHolding = false;
  /** Sentences about refused connections, and about a server that speaks another protocol. */
  readonly notes = new Set<string>();
  /** True once a program has connected. */
  wasUsed = false;
  readonly #connections = new Set<Connection>();
  #server!: Server;

  private constructor(
    readonly database: Database,
    readonly changes: Changes,
  ) {}

  static async open(database: Database, changes: Changes): Promise<Proxy> {
    const proxy = new Proxy(database, changes);
    proxy.#server = createServer((client) => {
      const connection = new Connection(proxy, client);
      proxy.#connections.add(connection);
      proxy.wasUsed = true;
      client.once('close', () => proxy.#connections.delete(connection));
    });
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** The database's address with the proxy in place of the host. */
  get url(): string {
    return this.database.urlAt((this.#server.address() as AddressInfo).port);
  }

  /** The rounds that wait, one for each connection, the oldest first. */
  get held(): Round[] {
    return [...this.#connections]
      .flatMap(({ queue }) => queue.slice(0, 1))
      .toSorted((a, b) => a.number - b.number);
  }

  /** The rounds that the server has not answered. */
  get unanswered(): Round[] {
    return [...this.#connections].flatMap(({ sent }) => sent);
  }

  /** True if a connection holds locks on rows that a round of another process may wait for. */
  get mayHoldLocks(): boolean {
    return [...this.#connections].some((each) => each.mayHoldLocks);
  }

  get isConnecting(): boolean {
    return [...this.#connections].some(({ isOpen }) => !isOpen);
  }

  release(round: Round, isAnswerLost = false): void {
    round.isReleased = true;
    const connection = this.#of(round);
    if (connection === undefined) return;
    connection.isMute = isAnswerLost;
    connection.pump();
  }

  /** Sends a round without its last part, which commits. The server answers later. */
  begin(round: Round): void {
    round.isBegun = true;
    this.#of(round)!.send(round.parts.slice(0, -1));
  }

  /** True if the round can begin before the round of another process. */
  canBegin(round: Round): boolean {
    const isAlone = this.#of(round)?.isInTransaction === false;
    return isAlone && round.isSplittable && !round.isBegun && !round.isRead;
  }

  releaseAll(): void {
    this.isHolding = false;
    for (const connection of this.#connections) connection.pump();
  }

  /** Cuts the connection of a round. */
  cut(round: Round): void {
    this.#of(round)?.cut();
  }

  cutAll(): void {
    for (const connection of this.#connections) connection.cut();
  }

  close(): void {
    this.#server.close();
    this.cutAll();
  }

  #of(round: Round): Connection | undefined {
    return [...this.#connections].find(({ number }) => number === round.connection);
  }
}

let rounds = 0;
let connections = 0;

class Connection {
  readonly number = connections++;
  readonly queue: Round[] = [];
  readonly sent: Round[] = [];
  isMute = false;
  isInTransaction = false;
  /** Stays true after a lock of the session, which outlives transactions. */
  #hasLocked = false;
  #hasWritten = false;
  readonly #server: Socket;
  readonly #wire: Wire;

  constructor(
    readonly proxy: Proxy,
    readonly client: Socket,
  ) {
    const { database, notes, changes } = proxy;
    this.#server = connect({ host: database.host, port: database.port });
    this.#wire = database.openWire({
      onRound: (round) => {
        round.number = rounds++;
        round.connection = this.number;
        this.queue.push(round);
        this.pump();
      },
      current: () => this.sent[0],
      onAnswer: () => {
        const round = this.sent.shift()!;
        round.isAnswered = true;
        this.isInTransaction = round.isInTransaction;
        this.#hasWritten = this.isInTransaction && (this.#hasWritten || !round.isFree);
        this.#hasLocked ||= round.statements.some((sql) => /lock/i.test(sql));
      },
      reply: (bytes) => client.write(bytes),
      note: (sentence) => notes.add(`Your program ${sentence}.`),
    } satisfies Listener);
    const lead = (from: Socket, to: Socket, who: string, read: (chunk: Buffer) => void): void => {
      from.setNoDelay();
      from.on('data', (chunk: Buffer) => {
        try {
          read(chunk);
        } catch (error) {
          if (!(error instanceof WireError)) throw error;
          notes.add(`${who} ${error.message}.`);
          return this.cut();
        }
        changes.tell();
      });
      from.on('error', (error) => {
        if (from === this.#server && !this.isOpen)
          notes.add(`${database.place} cannot be reached: ${error.message}.`);
      });
      from.once('end', () => to.end()).once('close', () => this.#end());
    };
    lead(client, this.#server, 'Your program', (chunk) => this.#wire.fromClient(chunk));
    lead(this.#server, client, database.place, (chunk) => {
      const isMute = this.isMute;
      this.#wire.fromServer(chunk);
      if (isMute || client.write(chunk)) return;
      this.#server.pause();
      client.once('drain', () => this.#server.resume());
    });
  }

  get isOpen(): boolean {
    return this.#wire.isOpen;
  }

  get mayHoldLocks(): boolean {
    const isAtWork = this.queue[0]?.isBegun === true || this.sent.some((round) => !round.isFree);
    return this.#hasWritten || this.#hasLocked || isAtWork;
  }

  /** Sends the rounds that need not wait. */
  pump(): void {
    for (let next = this.queue[0]; next !== undefined; next = this.queue[0]) {
      if (this.proxy.isHolding && !next.isFree && !next.isReleased) break;
      this.queue.shift();
      if (next.isExpectingAnswer) this.sent.push(next);
      this.send(next.isBegun ? next.parts.slice(-1) : next.parts);
    }
    this.proxy.changes.tell();
  }

  send(parts: readonly Buffer[]): void {
    for (const part of parts) {
      if (this.#server.write(part)) continue;
      this.client.pause();
      this.#server.once('drain', () => this.client.resume());
    }
  }

  cut(): void {
    this.client.destroy();
    this.#server.destroy();
  }

  #end(): void {
    this.client.end();
    this.#server.end();
    this.queue.length = 0;
    for (const round of this.sent.splice(0)) {
      round.isAnswered = true;
      round.error ??= 'connection lost';
    }
    this.proxy.changes.tell();
  }
}
