/**
 * Kills receivers with SIGKILL at each step of a delivery, while other processes settle the same
 * orders, and checks the books.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { signedDelivery } from '@paylink/testing';
import { bundleScript, type Bundle } from '../../test/servers/bundle.js';
import { Random } from '../random.js';
import {
  createOrder,
  createTables,
  openDatabase,
  readBooks,
  readOrder,
  type Engine,
} from '../../test/money/engines.js';
import type { MerchantSettings } from './merchant.js';

/** The steps of a delivery between `find` and its reply, at which a receiver is killed. */
export const STEPS = [
  'found',
  'confirmed',
  'credit written',
  'COMMIT sent',
  'committed',
  'found again',
  'replying',
] as const;
export type Step = (typeof STEPS)[number];

/** The design under test, or one that credits without a condition. */
export type Design = 'right' | 'unconditional';

export interface KillPlan {
  readonly engine: Pick<Engine, 'name' | 'url'>;
  readonly kills: number;
  readonly seed: number;
  readonly design?: Design;
  readonly onKill?: (planned: number) => void;
}

export interface KillReport {
  readonly orders: number;
  /** Orders that are unpaid at the end, though the service says that each is paid. */
  readonly lost: number;
  readonly doubled: number;
  /** Orders that are paid without an entry in the ledger, or the reverse. */
  readonly halves: number;
  /** The kills by the step at which they struck. */
  readonly killed: Readonly<Record<string, number>>;
  /** Notifications that were acknowledged before the row said paid. */
  readonly early: number;
  readonly acknowledged: number;
}

const SECRET = 'the-webhook-secret-of-the-kills';
const LANES = 2;

/** Kills until the plan is done, redelivers or reconciles what was cut, and reads the books. */
export async function runKills(plan: KillPlan): Promise<KillReport> {
  const { engine, kills, seed, design = 'right' } = plan;
  const { name, url } = engine;
  const database = await openDatabase(engine);
  await createTables(engine, database);
  const merchants = await Merchants.start({ name, url, design, secret: SECRET });
  const random = new Random(seed);
  const killed = Object.fromEntries(STEPS.map((step) => [step, 0]));
  let [planned, numbered, early, acknowledged] = [0, 0, 0, 0];

  const notify = async (merchant: Merchant, reference: string): Promise<boolean> => {
    const { headers, rawBody } = signedDelivery({ secret: SECRET, reference });
    const status = await merchant.request('/webhook', headers, rawBody);
    if (status !== 200) return false;
    acknowledged += 1;
    const order = await readOrder(database, reference, null);
    if (order?.paid !== true) early += 1;
    return true;
  };
  const order = async (): Promise<string> => {
    const reference = `order-${seed}-${(numbered += 1)}`;
    await createOrder(database, reference);
    return reference;
  };
  const lane = async (): Promise<void> => {
    const other = await merchants.next();
    while (planned < kills) {
      const step = STEPS[planned++ % STEPS.length]!;
      const victim = await merchants.next();
      await victim.arm(step);
      while (victim.isAlive) {
        const reference = await order();
        const page = `/settle?reference=${reference}`;
        await Promise.all([
          notify(victim, reference),
          ...(random.chance(0.3) ? [notify(other, reference)] : []),
          ...(random.chance(0.3) ? [other.request(page)] : []),
          ...(random.chance(0.1) ? [other.request('/reconcile')] : []),
        ]);
        // What is not redelivered is left for the schedule.
        if (random.chance(0.8)) while (!(await notify(other, reference)));
      }
      killed[step]! += 1;
      plan.onKill?.(planned);
    }
  };
  try {
    await Promise.all(Array.from({ length: LANES }, lane));
    const schedule = await merchants.next();
    await schedule.request('/reconcile');
    const { orders, paid, wrong } = await readBooks(database);
    const doubled = wrong.filter(({ credits }) => credits > 1).length;
    const halves = wrong.length - doubled;
    return { killed, early, acknowledged, orders, lost: orders - paid, doubled, halves };
  } finally {
    await merchants.close();
    await database.close();
  }
}

/** Returns true if the books are exact and every step was killed at. */
export function isRight({ killed, lost, doubled, halves, early }: KillReport): boolean {
  const isEachStep = Object.values(killed).every((count) => count > 0);
  return isEachStep && lost + doubled + halves + early === 0;
}

class Merchant {
  constructor(
    readonly child: ChildProcess,
    readonly port: number,
  ) {}

  get isAlive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Resolves when the process will kill itself at the step. */
  async arm(step: string): Promise<void> {
    const armed = once(this.child, 'message');
    this.child.send(step);
    await armed;
  }

  /** Resolves with the status of the reply, or undefined when a kill has cut it. */
  async request(
    path: string,
    headers: Record<string, string> = {},
    body?: Uint8Array,
  ): Promise<number | undefined> {
    const method = body === undefined ? 'GET' : 'POST';
    try {
      const init = { method, headers, ...(body && { body: new Uint8Array(body) }) };
      const reply = await fetch(`http://127.0.0.1:${this.port}${path}`, init);
      await reply.arrayBuffer();
      return reply.status;
    } catch (error) {
      if (this.isAlive) await once(this.child, 'exit', { signal: AbortSignal.timeout(10_000) });
      if (this.child.signalCode !== 'SIGKILL') throw error;
      return undefined;
    }
  }
}

/** The processes, each started before it is needed. */
class Merchants {
  readonly #bundle: Bundle;
  readonly #settings: MerchantSettings;
  readonly #all: ChildProcess[] = [];
  readonly #spares: Promise<Merchant>[] = [];

  private constructor(bundle: Bundle, settings: MerchantSettings) {
    this.#bundle = bundle;
    this.#settings = settings;
    for (let spare = 0; spare < LANES; spare += 1) this.#spares.push(this.#start());
  }

  static async start(settings: MerchantSettings): Promise<Merchants> {
    const bundle = await bundleScript(new URL('merchant.ts', import.meta.url));
    return new Merchants(bundle, settings);
  }

  next(): Promise<Merchant> {
    this.#spares.push(this.#start());
    return this.#spares.shift()!;
  }

  async #start(): Promise<Merchant> {
    const child = fork(this.#bundle.path, [JSON.stringify(this.#settings)], {
      cwd: tmpdir(),
      execArgv: [],
      env: { ...process.env, NODE_ENV: 'production' },
    });
    this.#all.push(child);
    const ended = once(child, 'exit').then(() => {
      throw new Error('a merchant ended before it told its port');
    });
    const [{ port }] = (await Promise.race([once(child, 'message'), ended])) as [{ port: number }];
    ended.catch(() => undefined);
    return new Merchant(child, port);
  }

  async close(): Promise<void> {
    await Promise.all(this.#spares);
    for (const child of this.#all) child.kill('SIGKILL');
    await this.#bundle.remove();
  }
}
