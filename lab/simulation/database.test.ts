import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import pg from 'pg';
import { postgresStore } from '@paylink/postgres';
import { startPostgres, type PostgresServer } from '../../test/servers/postgres.js';
import { Random } from '../durability/random.js';
import { Database, type Result, type Session } from './database.js';
import { orderKey, SQL } from './statements.js';
import { statementsFor } from './store-statements.js';

const SESSIONS = 3;
const STEPS = 40;
const HISTORIES = 60;
const KEYS = ['0a', '1b', '2c'].map((byte) => byte.repeat(32));
const REFERENCES = ['order-0', 'order-1', 'order-2'];

let server: PostgresServer;
let admin: pg.Client;
let clients: pg.Client[];

beforeAll(async () => {
  server = await startPostgres();
  const pool = new pg.Pool({ connectionString: server.url });
  await postgresStore(pool).migrate();
  await pool.query(`
    CREATE TABLE orders (tenant text, reference text, amount int, paid boolean, credits int, PRIMARY KEY (tenant, reference));
    CREATE TABLE credits (id serial, tenant text, reference text, amount int, kind text);
    CREATE TABLE marks (key text PRIMARY KEY)`);
  await pool.end();
  admin = new pg.Client(server.url);
  await admin.connect();
}, 60_000);
afterAll(async () => {
  await admin.end();
  await server.close();
});

beforeEach(async () => {
  await admin.query('TRUNCATE orders, credits, marks, paylink_marks');
  for (const reference of REFERENCES.slice(0, 2)) {
    await admin.query("INSERT INTO orders VALUES ('acme', $1, 500, false, 0)", [reference]);
  }
  clients = await Promise.all(
    Array.from({ length: SESSIONS }, async () => {
      const client = new pg.Client(server.url);
      client.on('error', () => undefined);
      await client.connect();
      return client;
    }),
  );
});

// Ends waiting sessions too.
afterEach(async () => {
  await Promise.all(
    clients.map(async (client) => {
      const gone = new Promise((resolve) => client.once('end', resolve));
      await admin.query('SELECT pg_terminate_backend($1)', [
        (client as unknown as { processID: number }).processID,
      ]);
      await gone;
    }),
  );
});

interface Answer {
  readonly error?: string | undefined;
  readonly results?: readonly {
    readonly command: string;
    readonly rowCount: number | null;
    readonly rows: unknown[];
  }[];
}

/** One session on both sides, with the answers to its last statement. */
class Pair {
  real: Answer | undefined = {};
  model: Answer | undefined = {};
  /**
   * Locks rows in one order, so that histories have no deadlock: the real server's timers would
   * choose the victim.
   */
  highest = -1;
  inTransaction = false;
  #transactions = { real: '', model: '' };

  constructor(
    readonly client: pg.Client,
    readonly session: Session,
  ) {}

  get isBlocked(): boolean {
    return this.real === undefined;
  }

  send(text: (transaction: string) => string, values: readonly unknown[]): void {
    this.real = this.model = undefined;
    const [real, model] = [text(this.#transactions.real), text(this.#transactions.model)];
    const query =
      values.length === 0 ? this.client.query(real) : this.client.query(real, [...values]);
    query.then(
      (answer) =>
        (this.real = {
          results: (Array.isArray(answer) ? answer : [answer]).map((one) =>
            this.#shape(one as Result, 'real'),
          ),
        }),
      (error: unknown) => (this.real = { error: (error as { code?: string }).code }),
    );
    this.session.send(model, values, (error, results) => {
      this.model =
        error === undefined
          ? { results: results.map((one) => this.#shape(one, 'model')) }
          : { error: error.code };
    });
  }

  #shape(
    { command, rowCount, rows }: Result,
    side: 'real' | 'model',
  ): NonNullable<Answer['results']>[number] {
    const state = rows[0]?.['state'] as string | undefined;
    if (state === undefined || !/^\d+$/.test(state))
      return { command, rowCount: rowCount ?? 0, rows: rows.map((row) => ({ ...row })) };
    this.#transactions[side] = state;
    return { command, rowCount: rowCount ?? 0, rows: [{ ...rows[0], state: 'a transaction' }] };
  }
}

/** Waits until the real server has answered or waits for a lock itself. */
async function settled(pairs: readonly Pair[]): Promise<void> {
  for (;;) {
    const waiting = pairs.filter(({ real }) => real === undefined);
    if (waiting.length === 0) return;
    const pids = waiting.map(
      ({ client }) => (client as unknown as { processID: number }).processID,
    );
    const { rows } = await admin.query<{ locked: boolean }>(
      'SELECT cardinality(pg_blocking_pids(pid)) > 0 AS locked FROM unnest($1::int[]) AS pid',
      [pids],
    );
    if (rows.every(({ locked }) => locked) && waiting.every(({ real }) => real === undefined))
      return;
  }
}

type Step = readonly [text: string | ((transaction: string) => string), values: readonly unknown[]];

function drawStep(random: Random, pair: Pair): Step {
  if (!pair.inTransaction && random.chance(0.7)) {
    pair.inTransaction = true;
    return random.chance(0.4) ? ['BEGIN', []] : [`BEGIN; ${drawClaim(random)}`, []];
  }
  if (pair.inTransaction && random.chance(0.25)) {
    pair.inTransaction = false;
    pair.highest = -1;
    return [random.chance(0.7) ? 'COMMIT' : 'ROLLBACK', []];
  }
  const unlocked: Step[] = [
    [SQL.readOrder, ['acme', REFERENCES[random.below(3)]]],
    [SQL.unpaid, []],
    [SQL.credit, ['acme', REFERENCES[random.below(3)], 500, 'credit']],
    [SQL.lookUp, [KEYS[random.below(3)]]],
    [statementsFor(KEYS[random.below(3)]!).findMark, []],
  ];
  if (random.chance(0.4)) return unlocked[random.below(unlocked.length)]!;
  const kind = random.below(6);
  if (kind === 0) return [SQL.mark, [drawKey(random, pair, 10)]];
  if (kind === 1) return [drawClaim(random), []];
  if (kind === 2) return [drawFinish(random, pair), []];
  const reference = REFERENCES[drawIndex(random, pair, 0)]!;
  return [[SQL.lockOrder, SQL.markPaid, SQL.payAndCount][kind - 3]!, ['acme', reference]];
}

/** Claims never wait, so any key will do. */
function drawClaim(random: Random): string {
  return statementsFor(KEYS[random.below(3)]!).claim;
}

/** Draws the last message of a run, for the last claimed transaction, which may have ended. */
function drawFinish(random: Random, pair: Pair): (transaction: string) => string {
  const { finish } = statementsFor(drawKey(random, pair, 20));
  const commits = pair.inTransaction && random.chance(0.7);
  if (commits) {
    pair.inTransaction = false;
    pair.highest = -1;
  }
  return (transaction) =>
    [
      ...finish({ transaction: transaction === '' ? '1' : transaction, role: 'none' }),
      ...(commits ? ['COMMIT'] : []),
    ].join('; ');
}

function drawKey(random: Random, pair: Pair, offset: number): string {
  return KEYS[drawIndex(random, pair, offset)]!;
}

/** Draws ascending indexes within a transaction, with keys after orders. */
function drawIndex(random: Random, pair: Pair, offset: number): number {
  const index = random.below(3);
  if (offset + index < pair.highest) return pair.highest % 10;
  pair.highest = pair.inTransaction ? offset + index : -1;
  return index;
}

describe('the model of the database', () => {
  it.each(Array.from({ length: HISTORIES }, (_, index) => index + 1))(
    'answers as PostgreSQL does, and waits where it waits: history %i',
    async (seed) => {
      const random = new Random(seed);
      const model = new Database();
      for (const reference of REFERENCES.slice(0, 2)) {
        model.insertCommitted('orders', orderKey('acme', reference), {
          tenant: 'acme',
          reference,
          amount: 500,
          paid: false,
          credits: 0,
        });
      }
      const pairs = clients.map((client) => new Pair(client, model.connect()));
      const history: string[] = [];
      for (let step = 0; step < STEPS; step += 1) {
        const free = pairs.filter((pair) => !pair.isBlocked);
        const pair = free[random.below(free.length)];
        if (pair === undefined) break;
        const [text, values] = drawStep(random, pair);
        history.push(
          `${pairs.indexOf(pair)}: ${typeof text === 'string' ? text : text('1')} ${JSON.stringify(values)}`,
        );
        pair.send(typeof text === 'string' ? () => text : text, values);
        await settled(pairs);
        expect(
          pairs.map((each) => each.model),
          history.join('\n'),
        ).toEqual(pairs.map((each) => each.real));
      }
    },
    20_000,
  );
});
