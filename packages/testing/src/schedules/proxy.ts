/**
 * Stands between one process and its database, on loopback. Holds rounds until they are released,
 * and sends every byte unchanged. The only bytes of its own let PostgreSQL answer a begun round.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Changes } from './changes.js';
import type { Database } from './database.js';
import type { Holder, Round } from './round.js';
import { WireError, type Listener } from './wire.js';

/** Rounds that are held after a reply. */
const AFTER_REPLY = 10;

export class Proxy {
  /** Sentences about refused connections, and about a server that speaks another protocol. */
  readonly notes = new Set<string>();
  /** True once a program has connected. */
  wasUsed = false;
  /** The rounds so far. */
  #rounds = 0;
  /** Rounds with this number or a later one pass. */
  #end = 0;
  #isHeld: (round: Round) => boolean = () => true;
  readonly #connections = new Set<Connection>();
  #server!: Server;

  private constructor(
    readonly database: Database,
    readonly changes: Changes,
  ) {}

  static async open(database: Database, changes: Changes): Promise<Proxy> {
    const proxy = new Proxy(database, changes);
    const { host, port } = database;
    proxy.#server = createServer((client) => {
      proxy.wasUsed = true;
      proxy.accept(client, connect({ host, port }));
    });
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  accept(client: Socket, server: Socket): void {
    const connection = new Connection(this, client, server);
    this.#connections.add(connection);
    // Up to then the server may still hold the locks of a client that is gone.
    server.once('close', () => {
      this.#connections.delete(connection);
      this.changes.tell();
    });
  }

  /** The database's address with the proxy in place of the host. */
  get url(): string {
    return this.database.urlAt((this.#server.address() as AddressInfo).port);
  }

  /** Lets the rounds that the function picks wait for `release`. */
  hold(isHeld: (round: Round) => boolean = () => true): void {
    this.#end = Infinity;
    this.#isHeld = isHeld;
  }

  /** Holds the next rounds after a reply, and no more: a worker in the process may never stop. */
  holdFewMore(): void {
    this.#end = Math.min(this.#end, this.#rounds + AFTER_REPLY);
  }

  holds(round: Round): boolean {
    return round.number < this.#end && this.#isHeld(round);
  }

  /** Numbers the rounds in the order in which they come. */
  nextNumber(): number {
    this.wasUsed = true;
    return this.#rounds++;
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

  get isConnecting(): boolean {
    return [...this.#connections].some(({ isOpen, client }) => !isOpen && !client.destroyed);
  }

  /** True if no connection is open, on either side. */
  get isUnused(): boolean {
    return this.#connections.size === 0;
  }

  /** True while the server has not noticed that a client is gone. */
  get isEnding(): boolean {
    return [...this.#connections].some(({ client }) => client.destroyed);
  }

  /** True if another connection may hold locks for which the round waits. */
  mayLockOut({ connection }: Round): boolean {
    return [...this.#connections].some((each) => each !== connection && each.mayHoldLocks);
  }

  releaseAll(): void {
    this.#end = 0;
    for (const connection of this.#connections) connection.pump();
  }

  cut(): void {
    for (const connection of this.#connections) connection.cut();
  }

  close(): void {
    this.#server.close();
    for (const { client, server } of this.#connections)
      for (const each of [client, server]) each.destroy();
  }
}

class Connection implements Holder, Listener {
  readonly queue: Round[] = [];
  readonly sent: Round[] = [];
  isOpen = false;
  isInTransaction = false;
  mayKeepLocks = false;
  /** The answers to a begun round, which its client gets with the rest. */
  readonly #early: Buffer[] = [];
  #isMute = false;
  /** Stays true after a lock of the session, which outlives transactions. */
  #hasLocked = false;
  #hasWritten = false;

  constructor(
    readonly proxy: Proxy,
    readonly client: Socket,
    readonly server: Socket,
  ) {
    const { database, notes } = proxy;
    const { fromClient, fromServer } = database.openWire(this);
    server.on('error', ({ message }) => {
      if (!this.isOpen) notes.add(`${database.place} cannot be reached: ${message}.`);
    });
    this.#lead(client, server, 'Your program', fromClient);
    if (!database.isInProcess)
      this.#lead(server, client, database.place, (chunk) => {
        fromServer(chunk);
        if (this.#begun !== undefined) this.#early.push(chunk);
        else if (!this.#isMute) this.#write(client, server, chunk);
      });
  }

  get current(): Round | undefined {
    return this.sent[0] ?? this.#begun;
  }

  onRound(round: Round): void {
    round.number = this.proxy.nextNumber();
    round.connection = this;
    this.queue.push(round);
    this.pump();
  }

  onAnswer(): void {
    const round = this.sent.shift()!;
    round.isAnswered = true;
    this.isInTransaction = round.isInTransaction;
    this.mayKeepLocks = round.isLocking || (this.mayKeepLocks && this.isInTransaction);
    this.#hasWritten = this.isInTransaction && (this.#hasWritten || !round.isFree);
    this.#hasLocked ||= round.statements.some((sql) => /lock/i.test(sql));
  }

  reply(bytes: Buffer): void {
    if (!this.#isMute) this.client.write(bytes);
  }

  note(sentence: string): void {
    this.proxy.notes.add(`Your program ${sentence}.`);
  }

  get #begun(): Round | undefined {
    const [next] = this.queue;
    return next?.isBegun === true ? next : undefined;
  }

  get mayHoldLocks(): boolean {
    const isAtWork = this.#begun !== undefined || this.sent.some((round) => !round.isFree);
    return this.#hasWritten || this.#hasLocked || isAtWork;
  }

  get canBegin(): boolean {
    const round = this.queue[0]!;
    return !this.isInTransaction && round.flush !== undefined && !round.isBegun && !round.isRead;
  }

  begin(): void {
    const round = this.queue[0]!;
    round.isBegun = true;
    this.#send([...round.parts.splice(0, round.parts.length - 1), round.flush!]);
  }

  release(isAnswerLost: boolean): void {
    this.#isMute = isAnswerLost;
    this.#sendNext();
    this.pump();
  }

  /** Sends the rounds that need not wait. */
  pump(): void {
    for (let [next] = this.queue; next !== undefined; [next] = this.queue) {
      if (!next.isFree && this.proxy.holds(next)) break;
      this.#sendNext();
    }
    this.proxy.changes.tell();
  }

  #sendNext(): void {
    const round = this.queue.shift()!;
    if (round.isExpectingAnswer) this.sent.push(round);
    const early = this.#early.splice(0);
    if (early.length > 0 && !this.#isMute)
      this.#write(this.client, this.server, Buffer.concat(early));
    this.#send(round.parts);
  }

  #send(parts: readonly Buffer[]): void {
    this.#write(this.server, this.client, Buffer.concat(parts));
  }

  cut(): void {
    this.client.destroy();
    this.server.end();
  }

  /** Reads one side. The other side ends with it. */
  #lead(from: Socket, to: Socket, who: string, read: (chunk: Buffer) => void): void {
    from.setNoDelay();
    from.on('data', (chunk: Buffer) => {
      try {
        read(chunk);
      } catch (error) {
        if (!(error instanceof WireError)) throw error;
        this.proxy.notes.add(`${who} ${error.message}.`);
        return this.cut();
      }
      this.proxy.changes.tell();
    });
    from.on('error', () => undefined);
    from.once('end', () => to.end()).once('close', () => this.#end());
  }

  /** Writes to one side, and lets the other side wait if that is slow. */
  #write(to: Socket, from: Socket, bytes: Buffer): void {
    if (to.write(bytes)) return;
    from.pause();
    if (to.listenerCount('drain') === 0) to.once('drain', () => from.resume());
  }

  #end(): void {
    this.client.end();
    this.server.end();
    this.queue.length = 0;
    this.isInTransaction = false;
    this.mayKeepLocks = false;
    for (const round of this.sent.splice(0)) {
      round.isAnswered = true;
      round.error ??= 'connection lost';
    }
    this.proxy.changes.tell();
  }
}
