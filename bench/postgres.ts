/**
 * What the mark costs: Express with postgresStore beside a handler that writes a mark and a credit in a transaction by hand. One
 * run, the two in turn, each request an order of its own. PostgreSQL does not wait for the disk here, since that wait is the same
 * for both and would hide the difference.
 *
 * `npx tsx bench/postgres.ts [rounds]`
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { startPostgres } from '../test/engines/postgres.js';
import { nodeHeaders, URL_PATH } from './delivery.js';
import type { Contestant } from './postgres-contestants.js';
import { openPool, type Pool } from './postgres-pool.js';
import { runRounds } from './rounds.js';
import { median, medianRatio } from './statistics.js';

const ROUNDS = Number(process.argv[2] ?? 9);
const ORDERS = 1_500;
const CONNECTIONS = 24;
const GOAL = 0.8;

interface Sample {
  readonly requestsPerSecond: number;
  readonly cpuMicrosecondsPerRequest: number;
}

/** A server of one contestant on a database of its own. */
class Race {
  readonly #server: ChildProcess;
  readonly #database: Pool;
  readonly #sockets: Socket[];
  #orders = 0;

  private constructor(server: ChildProcess, database: Pool, sockets: Socket[]) {
    this.#server = server;
    this.#database = database;
    this.#sockets = sockets;
  }

  static async start(contestant: Contestant, databaseUrl: string): Promise<Race> {
    const database = openPool(databaseUrl, 1);
    await database.query('CREATE TABLE orders (reference text PRIMARY KEY, credited int NOT NULL DEFAULT 0)');
    const server = fork(new URL('postgres-server.ts', import.meta.url), [contestant, databaseUrl]);
    const [port] = (await once(server, 'message')) as [number];
    const sockets = Array.from({ length: CONNECTIONS }, () => connect({ port, host: '127.0.0.1', noDelay: true }));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    const race = new Race(server, database, sockets);
    await race.slice();
    return race;
  }

  async slice(): Promise<Sample> {
    const requests = await this.#newOrders();
    const cpuBefore = await this.#cpuTime();
    const started = performance.now();
    await Promise.all(this.#sockets.map((socket) => sendInTurn(socket, requests)));
    const seconds = (performance.now() - started) / 1000;
    const cpu = (await this.#cpuTime()) - cpuBefore;
    return { requestsPerSecond: ORDERS / seconds, cpuMicrosecondsPerRequest: cpu / ORDERS };
  }

  /** Who credits an order never, or twice, is out of the race. */
  async end(): Promise<void> {
    const { rows } = await this.#database.query('SELECT reference FROM orders WHERE credited <> 1');
    for (const socket of this.#sockets) socket.destroy();
    this.#server.disconnect();
    await once(this.#server, 'exit');
    await this.#database.end();
    if (rows.length > 0) throw new Error(`${rows.length} orders were not credited once`);
  }

  async #newOrders(): Promise<Buffer[]> {
    const references = Array.from({ length: ORDERS }, () => `order-${String((this.#orders += 1)).padStart(9, '0')}`);
    await this.#database.query('INSERT INTO orders (reference) SELECT unnest($1::text[])', [references]);
    await this.#database.query('ANALYZE');
    return references.map(requestFor);
  }

  async #cpuTime(): Promise<number> {
    this.#server.send('cpu time');
    const [microseconds] = (await once(this.#server, 'message')) as [number];
    return microseconds;
  }
}

function requestFor(reference: string): Buffer {
  const body = Buffer.from(JSON.stringify({ reference, status: 'success', amount: 129_900, currency: 'XOF' }));
  const lines = Object.entries(nodeHeaders(body)).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`POST ${URL_PATH} HTTP/1.1\r\n${lines.join('')}\r\n`), body]);
}

/** Takes requests from the common heap until it is empty, one under way at a time. */
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

const postgres = await startPostgres({ fsync: 'off' });
const admin = openPool(postgres.url, 1);
const races: Race[] = [];
for (const contestant of ['byHand', 'paylink'] as const) {
  const database = `shop_${contestant.toLowerCase()}`;
  await admin.query(`CREATE DATABASE ${database}`);
  races.push(await Race.start(contestant, postgres.url.replace(/[^/]+$/, database)));
}
await admin.end();

const [byHand, paylink] = (await runRounds(
  races.map((race) => () => race.slice()),
  ROUNDS,
)) as [Sample[], Sample[]];
for (const race of races) await race.end();
await postgres.close();

const speedOf = (samples: Sample[]): number[] => samples.map(({ requestsPerSecond }) => requestsPerSecond);
const cpuOf = (samples: Sample[]): number[] => samples.map(({ cpuMicrosecondsPerRequest }) => cpuMicrosecondsPerRequest);
const row = (name: string, samples: Sample[]): string =>
  `${name.padEnd(34)}${median(speedOf(samples)).toFixed(0).padStart(12)}${median(cpuOf(samples)).toFixed(0).padStart(16)}`;
const ratio = medianRatio(speedOf(paylink), speedOf(byHand));

console.log(`${ROUNDS} rounds of ${ORDERS} orders each, medians\n`);
console.log(`${''.padEnd(34)}  requests/s  CPU µs/request`);
console.log(row('mark and credit by hand', byHand));
console.log(row('@paylink/express, postgresStore', paylink));
console.log(`\nratio of requests/s: ${ratio.toFixed(2)} (goal: at least ${GOAL})`);
if (ratio < GOAL) process.exitCode = 1;
