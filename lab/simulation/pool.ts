/**
 * A pool of connections to the database model, like `pg`'s, over a network that delays and cuts.
 */
import { EventEmitter } from 'node:events';
import type { Faults } from './faults.js';
import { SqlError, type Database, type Result, type Session } from './database.js';
import type { Life } from './process.js';
import type { VirtualTime } from './virtual-time.js';

export interface Surroundings {
  readonly time: VirtualTime;
  readonly faults: Faults;
  readonly database: DatabaseServer;
}

/** The database with its readiness for connections. */
export class DatabaseServer {
  isDown = false;
  constructor(readonly model: Database) {}
}

type QueryConfig =
  | string
  | {
      readonly text: string;
      readonly values?: readonly unknown[];
      readonly query_timeout?: number;
    };

type Answer = Result | Result[];

/**
 * Emits `remove` for a lost connection, as pg's pool does. The store then forgets its observations.
 */
export class SimulatedPool extends EventEmitter {
  readonly #idle: SimulatedClient[] = [];
  readonly #waiting: {
    resolve: (client: SimulatedClient) => void;
    reject: (error: Error) => void;
  }[] = [];
  #open = 0;

  constructor(
    readonly world: Surroundings,
    readonly life: Life,
    readonly options: { readonly max: number },
  ) {
    super();
  }

  connect(): Promise<SimulatedClient> {
    return new Promise((resolve, reject) => {
      const client = this.#idle.pop();
      if (client !== undefined) resolve(client);
      else if (this.#open < this.options.max) this.#openOne(resolve, reject);
      else this.#waiting.push({ resolve, reject });
    });
  }

  async query(query: QueryConfig, values?: readonly unknown[]): Promise<Answer> {
    const client = await this.connect();
    try {
      const answer = await client.query(query, values);
      client.release();
      return answer;
    } catch (error) {
      client.release(!(error instanceof SqlError));
      throw error;
    }
  }

  /** Called by the pool's clients when they return or are lost. */
  takeBack(client: SimulatedClient, gone: boolean): void {
    if (gone) {
      this.#open -= 1;
      this.emit('remove', client);
      const next = this.#waiting.shift();
      if (next !== undefined) this.#openOne(next.resolve, next.reject);
      return;
    }
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(client);
    else next.resolve(client);
  }

  forgetIdle(client: SimulatedClient): boolean {
    const index = this.#idle.indexOf(client);
    if (index >= 0) this.#idle.splice(index, 1);
    return index >= 0;
  }

  #openOne(resolve: (client: SimulatedClient) => void, reject: (error: Error) => void): void {
    this.#open += 1;
    const { time, faults, database } = this.world;
    const delay = faults.delay();
    time.after(
      delay,
      () => {
        if (database.isDown || faults.strikes('cut')) {
          this.#open -= 1;
          reject(new Error('connect ECONNREFUSED'));
          const next = this.#waiting.shift();
          if (next !== undefined) this.#openOne(next.resolve, next.reject);
        } else resolve(new SimulatedClient(this, database.model.connect()));
      },
      this.life,
    );
  }
}

interface Pending {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

export class SimulatedClient {
  /** The store ends a frozen connection through this. */
  readonly connection = { stream: { destroy: (): void => this.#break(false) } };
  #pending: Pending[] = [];
  #broken = false;
  #released = false;
  #lastArrival = 0;
  #lastAnswer = 0;
  /** Set after the process died: messages on the way may be lost. */
  #silenced = false;

  constructor(
    readonly pool: SimulatedPool,
    readonly session: Session,
  ) {
    session.onTerminate(() => {
      this.#atClient(() => this.#break(true));
    });
    pool.life.onDeath(() => {
      const { time, faults } = pool.world;
      this.#silenced = faults.random.chance(0.5);
      time.after(faults.delay(), () => this.session.disconnect(), null);
    });
  }

  on(): this {
    return this;
  }

  off(): this {
    return this;
  }

  query(query: QueryConfig, givenValues?: readonly unknown[]): Promise<Answer> {
    const {
      text,
      values = [],
      query_timeout: timeout,
    } = typeof query === 'string'
      ? { text: query, values: givenValues }
      : { values: givenValues, ...query };
    return new Promise<Answer>((resolve, reject) => {
      if (this.#broken) {
        reject(new Error('Connection terminated'));
        return;
      }
      const { time, faults } = this.pool.world;
      const pending: Pending = { resolve, reject };
      this.#pending.push(pending);
      if (timeout !== undefined) {
        time.after(timeout, () => {
          if (this.#settle(pending)) reject(new Error('Query read timeout'));
        });
      }
      if (faults.strikes('cut')) {
        this.#cut(
          faults.random.chance(0.5) ? () => this.#arrive(text, values, undefined) : undefined,
        );
        return;
      }
      this.#lastArrival = Math.max(this.#lastArrival, time.now + faults.delay());
      time.after(
        this.#lastArrival - time.now,
        () => {
          if (!this.#silenced) this.#arrive(text, values, pending);
        },
        null,
      );
    });
  }

  release(destroy: Error | boolean = false): void {
    if (this.#released) return;
    this.#released = true;
    if (destroy === false && !this.#broken) {
      this.#released = false;
      this.pool.takeBack(this, false);
      return;
    }
    this.#break(false);
    this.pool.takeBack(this, true);
  }

  /** The message has reached the server. */
  #arrive(text: string, values: readonly unknown[], pending: Pending | undefined): void {
    this.session.send(text, values, (error, results) => {
      if (pending === undefined) return;
      this.#atClient(() => {
        if (!this.#settle(pending)) return;
        if (error !== undefined) pending.reject(error);
        else pending.resolve(results.length === 1 ? results[0]! : results);
      });
    });
  }

  /**
   * The network breaks: each side notices at its own time, and the last message may or may not have
   * arrived.
   */
  #cut(arrival: (() => void) | undefined): void {
    const { time, faults } = this.pool.world;
    if (arrival !== undefined) time.after(faults.delay(), arrival, null);
    time.after(faults.delay() + 100, () => this.session.disconnect(), null);
    this.#atClient(() => this.#break(true));
  }

  #atClient(run: () => void): void {
    const { time, faults } = this.pool.world;
    this.#lastAnswer = Math.max(this.#lastAnswer, time.now + faults.delay());
    time.after(this.#lastAnswer - time.now, run, this.pool.life);
  }

  #break(fromOutside: boolean): void {
    if (this.#broken) return;
    this.#broken = true;
    for (const { reject } of this.#pending.splice(0))
      reject(new Error('Connection terminated unexpectedly'));
    if (!fromOutside) {
      const { time, faults } = this.pool.world;
      time.after(faults.delay(), () => this.session.disconnect(), null);
    }
    if (this.pool.forgetIdle(this)) this.pool.takeBack(this, true);
  }

  #settle(pending: Pending): boolean {
    const index = this.#pending.indexOf(pending);
    if (index >= 0) this.#pending.splice(index, 1);
    return index >= 0;
  }
}
