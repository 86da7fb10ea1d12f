/** What a handler gets as `tx`: the driver's own object, for as long as the handler runs, without what would end the transaction. */
import type { Aborts } from './aborts.js';
import type { WrittenRows } from './handler-writes.js';
import type { PgClient, PgPool } from './options.js';
import { stopListening, takeClient } from './pool-connection.js';
import { controlOf } from './sql-text.js';

/** Passes everything on to its target until it is closed; from then on each use throws. */
export interface Guard<Target> {
  readonly target: Target;
  /** @param reason why, where the handler did not end well */
  close(reason?: unknown): void;
}

interface Watching {
  /** Members in place of the target's own. */
  readonly overrides?: Readonly<Record<PropertyKey, Method>>;
  readonly onUse?: () => void;
  /** Called for each use after the handler has ended well: what it still wants to write is lost. */
  readonly onLateUse?: () => void;
}

/**
 * A handler can go on long after its time is over, and by then its connection can serve another order's transaction. So the
 * handler gets a guard and never the client itself.
 */
export function guard<Target extends object>(target: Target, watching: Watching = {}): Guard<Target> {
  return new ProxyGuard(target, watching);
}

class ProxyGuard<Target extends object> implements Guard<Target>, ProxyHandler<Target> {
  readonly target: Target;
  readonly #watching: Watching;
  #closed: { readonly reason: unknown } | undefined;

  constructor(unguarded: Target, watching: Watching) {
    this.#watching = watching;
    this.target = new Proxy(unguarded, this);
  }

  close(reason?: unknown): void {
    this.#closed ??= { reason };
  }

  get(unguarded: Target, name: PropertyKey): unknown {
    // A promise that resolves with the guard asks for `then`, open or not.
    if (name === 'then' && !('then' in unguarded)) return undefined;
    this.#assertOpen();
    const { overrides } = this.#watching;
    if (overrides !== undefined && Object.hasOwn(overrides, name)) {
      const override = overrides[name]!;
      return (...values: unknown[]) => this.#call(override, unguarded, values);
    }
    const value: unknown = Reflect.get(unguarded, name, unguarded);
    if (typeof value !== 'function') return value;
    return new Proxy(value as Method, { apply: (method, _, values: unknown[]) => this.#call(method, unguarded, values) });
  }

  set(unguarded: Target, name: PropertyKey, value: unknown): boolean {
    this.#assertOpen();
    return Reflect.set(unguarded, name, value, unguarded);
  }

  apply(unguarded: Target, self: unknown, values: unknown[]): unknown {
    this.#assertOpen();
    return Reflect.apply(unguarded as Method, self, values);
  }

  /** Called on the target itself, since private fields cannot be reached through a proxy. */
  #call(method: Method, unguarded: Target, values: unknown[]): unknown {
    this.#assertOpen();
    const value: unknown = Reflect.apply(method, unguarded, values);
    // `on` and other methods return the client, so that calls can be chained.
    return value === unguarded ? this.target : value;
  }

  #assertOpen(): void {
    const { onUse, onLateUse } = this.#watching;
    onUse?.();
    if (this.#closed === undefined) return;
    if (this.#closed.reason === undefined) onLateUse?.();
    throw new Error('the transaction is over: nothing more can be done in it', { cause: this.#closed.reason });
  }
}

/** Gives `work` what is guarded, for as long as it runs and is not aborted. */
export async function lend<Tx>(guarded: Guard<Tx>, work: (tx: Tx) => Promise<void>, aborts: Aborts): Promise<void> {
  try {
    // Closed in the moment of the abort, before any code that waits for it runs.
    await aborts.race(work(guarded.target), (reason) => guarded.close(reason));
    guarded.close();
  } catch (error) {
    guarded.close(error ?? 'failed');
    throw error;
  }
}

type Method = (...values: unknown[]) => unknown;

/** The client of `pg` in a transaction of the store. */
export function guardClient<Client extends PgClient>(client: Client, rows: WrittenRows, onLateUse: () => void): Guard<Client> {
  const query = (...values: unknown[]): unknown => {
    refuseControl(values[0]);
    rows.sent(values[0]);
    rows.pending += 1;
    return (client as { query(...values: unknown[]): unknown }).query(...values);
  };
  // Code that takes a client and releases it at the end may run unchanged: the store gives the connection back.
  const overrides = { query, release: () => undefined, end: refuse('end'), connect: refuse('connect') };
  return guard(client, { overrides, onLateUse });
}

/** The transaction of PGlite, or of an ORM, whose statements are not seen. */
export function guardTransaction<Tx extends object>(tx: Tx, rows: WrittenRows, onLateUse: () => void): Guard<Tx> {
  const onUse = (): void => void (rows.used = true);
  return guard(tx, { overrides: isPgliteTransaction(tx) ? readingResults(tx, rows) : {}, onUse, onLateUse });
}

interface PgliteTransaction {
  query(...values: unknown[]): Promise<PgliteResult>;
  sql(...values: unknown[]): Promise<PgliteResult>;
  exec(...values: unknown[]): Promise<readonly PgliteResult[]>;
}

interface PgliteResult {
  readonly rows: readonly unknown[];
  /** Of PGlite 0.5 and newer. Without it nothing raises an alarm. */
  readonly command?: string;
  readonly rowCount?: number;
}

function isPgliteTransaction(tx: object): tx is PgliteTransaction {
  return ['query', 'sql', 'exec', 'rollback'].every((name) => typeof (tx as Record<string, unknown>)[name] === 'function');
}

function readingResults(tx: PgliteTransaction, rows: WrittenRows): Record<string, Method> {
  const reading =
    (name: keyof PgliteTransaction) =>
    async (...values: unknown[]): Promise<unknown> => {
      refuseControl(values[0]);
      rows.sent(values[0]);
      const answer = await tx[name](...values);
      for (const { command, rowCount, rows: read } of [answer].flat()) rows.answered(command, rowCount ?? read.length);
      return answer;
    };
  return { query: reading('query'), sql: reading('sql'), exec: reading('exec') };
}

function refuseControl(query: unknown): void {
  if (controlOf(query) === undefined) return;
  throw new Error(
    'the store begins and ends the transaction of `tx`: throw to roll it back, and use SAVEPOINT and ROLLBACK TO for a part of it',
  );
}

function refuse(name: string): () => never {
  return () => {
    throw new Error(`tx.${name}() is not for handlers: the connection belongs to the store`);
  };
}

/**
 * A pool for an ORM whose own transactions hold the mark. Its connections refuse every statement after COMMIT or ROLLBACK until
 * the next BEGIN, and every use after they went back to the pool: a handler whose time is over could otherwise go on writing,
 * outside of any transaction or in another order's. A connection that breaks while an ORM holds it does not end the process.
 */
export function guardedPool<Pool extends PgPool>(pool: Pool): Pool {
  const connect = async (): Promise<PgClient> => guardConnection(await takeClient(pool));
  return new Proxy(pool, {
    get(_, name) {
      const value: unknown = Reflect.get(pool, name, pool);
      if (typeof value !== 'function') return value;
      const method = value as (...values: unknown[]) => unknown;
      // A caller with a callback gets the bare client, as `pool.query` does.
      return (...values: unknown[]) => (name === 'connect' && values.length === 0 ? connect() : method.apply(pool, values));
    },
  });
}

function guardConnection(client: PgClient): PgClient {
  let ended = false;
  const overrides = {
    query(...values: unknown[]) {
      const control = controlOf(values[0]);
      if (ended && control !== 'begins') throw new Error('the transaction is over: nothing more can be done in it');
      ended = control === 'ends';
      return (client as { query(...values: unknown[]): unknown }).query(...values);
    },
    release(error?: unknown) {
      lent.close(new Error('the connection went back to its pool'));
      client.release(error as Error | boolean | undefined);
      stopListening(client);
    },
  };
  const lent = guard(client, { overrides });
  return lent.target;
}
