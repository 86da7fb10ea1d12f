import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Pool } from 'pg';
import { requestOf } from './delivery.js';
import type { Contestant } from './postgres-contestants.js';
import { startServer, type ServerProcess } from './server-process.js';

const CONNECTIONS = 24;
const SECONDS = 0.8;
/** Loads before the measurement: V8 still compiles, and a new server is slower. */
const WARM_UP = 5;

export interface Sample {
  readonly requestsPerSecond: number;
  readonly cpuMicrosecondsPerRequest: number;
}

/** One contestant's server on its own database. */
export class Race {
  readonly #server: ServerProcess;
  readonly #database: Pool;
  readonly #sockets: Socket[];
  #orders = 0;
  #ordersInSlice = 200;

  private constructor(server: ServerProcess, database: Pool, sockets: Socket[]) {
    this.#server = server;
    this.#database = database;
    this.#sockets = sockets;
  }

  /**
   * @param url the database as the server reaches it
   * @param straight the database as the bench reaches it
   */
  static async start(
    contestant: Contestant,
    url: string,
    straight: string,
    poolSize: number,
  ): Promise<Race> {
    const database = new Pool({ connectionString: straight, max: 1 });
    await database.query(
      'CREATE TABLE orders (reference text PRIMARY KEY, amount bigint NOT NULL DEFAULT 129900, ' +
        "currency text NOT NULL DEFAULT 'XOF', paid_at timestamptz, " +
        'credited int NOT NULL DEFAULT 0)',
    );
    const server = await startServer('postgres-server.ts', [contestant, url, String(poolSize)]);
    const race = new Race(server, database, await openSockets(server.port));
    const warm = performance.now() + WARM_UP * 1000;
    while (performance.now() < warm) await race.slice();
    const { requestsPerSecond } = await race.slice();
    race.#ordersInSlice = Math.max(100, Math.round(requestsPerSecond * SECONDS));
    return race;
  }

  async slice(): Promise<Sample> {
    const requests = await this.#newOrders(this.#ordersInSlice);
    const cpuBefore = await this.#server.cpuTime();
    const started = performance.now();
    await Promise.all(this.#sockets.map((socket) => sendInTurn(socket, requests)));
    const seconds = (performance.now() - started) / 1000;
    const cpu = (await this.#server.cpuTime()) - cpuBefore;
    return {
      requestsPerSecond: this.#ordersInSlice / seconds,
      cpuMicrosecondsPerRequest: cpu / this.#ordersInSlice,
    };
  }

  /** Returns requests for uncredited orders. */
  async #newOrders(count: number): Promise<Buffer[]> {
    const references = Array.from(
      { length: count },
      () => `order-${String((this.#orders += 1)).padStart(9, '0')}`,
    );
    await this.#database.query('INSERT INTO orders (reference) SELECT unnest($1::text[])', [
      references,
    ]);
    await this.#database.query('ANALYZE');
    return references.map(requestFor);
  }

  /** @throws Error for an order that was not credited exactly once */
  async end(): Promise<void> {
    const { rows } = await this.#database.query('SELECT reference FROM orders WHERE credited <> 1');
    for (const socket of this.#sockets) socket.destroy();
    await this.#server.close();
    await this.#database.end();
    if (rows.length > 0) throw new Error(`${rows.length} orders were not credited once`);
  }
}

async function openSockets(port: number): Promise<Socket[]> {
  const sockets = Array.from({ length: CONNECTIONS }, () =>
    connect({ port, host: '127.0.0.1', noDelay: true }),
  );
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  return sockets;
}

function requestFor(reference: string): Buffer {
  const body = Buffer.from(
    JSON.stringify({ reference, status: 'success', amount: 129_900, currency: 'XOF' }),
  );
  return requestOf(body);
}

/** Takes requests from the shared heap until it is empty, one at a time. */
function sendInTurn(socket: Socket, heap: Buffer[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let reply = '';
    const next = (): void => {
      const request = heap.pop();
      if (request !== undefined) {
        socket.write(request);
        return;
      }
      socket.removeAllListeners();
      resolve();
    };
    socket.on('error', reject).on('data', (bytes: Buffer) => {
      reply += bytes.toString('latin1');
      if (!reply.endsWith('}')) return;
      if (!reply.startsWith('HTTP/1.1 200 ')) reject(new Error(`a server replied ${reply}`));
      reply = '';
      next();
    });
    next();
  });
}
