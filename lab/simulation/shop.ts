/** A merchant's server process, which starts again after a crash. */
// First, because the code under test keeps timers and clocks when it loads.
import './virtual-time.js';
import { createClient } from '@paylink/client';
import { createReceiver, type Receiver } from '@paylink/core';
import { createPayments, type Orders, type Payments } from '@paylink/payments';
import type { Design } from './designs.js';
import { Life } from './life.js';
import { secretOf, type Notification } from './service.js';
import type { Order, World } from './world.js';

const QUIET = { warn: () => undefined, error: () => undefined };

/** The steps between which a process can die. */
const STEPS = ['find', 'ask', 'credit', 'find again'] as const;
const MOMENTS = ['sent', 'done', 'answered'] as const;
export type CrashPoint =
  | `${(typeof STEPS)[number]} ${(typeof MOMENTS)[number]}`
  | 'acknowledging'
  | 'at any time';
export const CRASH_POINTS: readonly CrashPoint[] = [
  ...STEPS.flatMap((step) => MOMENTS.map((moment): CrashPoint => `${step} ${moment}`)),
  'acknowledging',
];

/** What the processes of a design share in memory: nothing but what the design itself gives. */
interface Running {
  readonly payments: Payments;
  readonly receiver: Receiver<{ readonly tenant: string | null }>;
}

export class Shop {
  unanswered = 0;
  life = new Life();
  #running!: Running;
  /** Kills the process when it reaches the point for the `times`th time. */
  #crash: { point: CrashPoint; times: number } | undefined;

  constructor(
    readonly world: World,
    readonly name: string,
    readonly design: Design,
  ) {
    this.#start();
  }

  crashAt(point: CrashPoint, times: number): void {
    this.#crash = { point, times };
  }

  crash(point: CrashPoint): void {
    if (!this.life.alive) return;
    const { world } = this;
    world.tell(this.name, `is killed: ${point}`);
    world.crashes.set(point, (world.crashes.get(point) ?? 0) + 1);
    this.life.kill();
    world.time.after(world.random.below(30_000), () => this.#start(), null);
  }

  pause(milliseconds: number): void {
    this.world.tell(this.name, `stands still for ${milliseconds} ms`);
    this.life.pause(this.world.time.now, milliseconds);
  }

  /** Ends the faults. */
  recover(): void {
    this.life.pausedUntil = 0;
    this.#crash = undefined;
    if (!this.life.alive) this.#start();
  }

  receive(notification: Notification, answered: (status: number) => void): void {
    const { kind, tenant, reference, body, signature } = notification;
    const { invariants } = this.world;
    const headers: Record<string, string> = {
      'x-service-event': kind,
      'x-service-signature': signature,
    };
    const delivery = {
      method: 'POST',
      header: (name: string) => headers[name],
      body: async () => new TextEncoder().encode(body),
    };
    this.#serve(async ({ receiver }) => {
      const { status } = await receiver.receive(delivery, { tenant });
      return (took) => {
        if (status === 200 && this.#dies('acknowledging')) return;
        invariants.onReply(notification, status, took);
        this.world.tell(this.name, `${kind} ${tenant ?? '-'}/${reference} -> ${status}`);
        answered(status);
      };
    });
  }

  /** Shows the return page to a customer. */
  settle({ tenant, reference }: Order): void {
    this.#serve(async ({ payments }) => {
      const { status } = await payments.settle(reference, { tenant });
      return (took) => {
        this.world.invariants.onSettled(tenant, reference, status, took);
        this.world.tell(this.name, `the page of ${tenant ?? '-'}/${reference} -> ${status}`);
      };
    });
  }

  /** Runs one pass over the unpaid orders of every tenant. Tells if it reached all of them. */
  reconcile(ended: (isComplete: boolean) => void = () => undefined): void {
    const { life, world } = this;
    let isOpen = true;
    const end = (isComplete: boolean): void => {
      if (!isOpen) return;
      isOpen = false;
      world.tell(this.name, `reconcile: ${isComplete ? 'complete' : 'not complete'}`);
      ended(isComplete);
    };
    life.onDeath(() => end(false));
    if (!life.alive) return end(false);
    const pass = async (): Promise<void> => {
      let isComplete = true;
      for (const tenant of world.tenants) {
        const options = { tenant, timeLimit: 600_000 };
        const { errors, notAsked } = await this.#running.payments.reconcile(undefined, options);
        isComplete &&= notAsked.count === 0 && errors.count === 0;
      }
      end(isComplete);
    };
    const failed = (error: unknown): void => {
      world.tell(this.name, `reconcile failed: ${String(error)}`);
      end(false);
    };
    world.time.after(0, () => void pass().catch(failed), life);
  }

  /** Handles a request in the present life. `run` returns the reply, which gets the duration. */
  #serve(run: (running: Running) => Promise<(took: number) => void>): void {
    const { life, world } = this;
    if (!life.alive) return;
    this.unanswered += 1;
    let isOpen = true;
    const close = (): void => {
      if (isOpen) this.unanswered -= 1;
      isOpen = false;
    };
    life.onDeath(close);
    const begin = async (): Promise<void> => {
      const started = world.time.now - life.pausedFor;
      const reply = await run(this.#running);
      if (!life.alive) return;
      close();
      reply(world.time.now - life.pausedFor - started);
    };
    world.time.after(0, () => void begin(), life);
  }

  #start(): void {
    const { world, design } = this;
    this.life = new Life();
    const previous = world.time.acting;
    world.time.acting = this.life;
    const orders = this.#orders();
    const payments = createPayments({
      orders: design.orders?.(orders, this) ?? orders,
      client: (tenant) => {
        const client = createClient({
          baseUrl: 'https://service.example/api',
          apiKey: `sk_live_${tenant ?? 'us'}.the-secret-part`,
          fetch: this.#fetchFor(tenant),
          retries: 1,
        });
        return design.client?.(client, this, tenant) ?? client;
      },
      logger: QUIET,
    });
    const broken = { ...payments, ...design.payments?.(payments, orders) };
    const receiver = createReceiver(
      {
        secret: ({ tenant }: { readonly tenant: string | null }) => ({
          secret: secretOf(tenant),
          tenant,
        }),
        logger: QUIET,
      },
      broken.receive,
    );
    this.#running = { payments: broken, receiver };
    world.time.acting = previous;
  }

  /** A right `orders` on the database of the world. */
  #orders(): Orders {
    const { database, readsReplica } = this.world;
    const credited = new Set<string>();
    const stepOf = (key: string): 'find' | 'find again' =>
      credited.delete(key) ? 'find again' : 'find';
    return {
      find: (reference, { tenant }) =>
        this.call(stepOf(`${tenant ?? '-'}/${reference}`), () => {
          const row = database.read(tenant, reference, readsReplica ? database.lag : 0);
          return row && { ...row, paid: row.isPaid, closed: row.isClosed };
        }),
      credit: async ({ reference, amount, currency }, { tenant }) => {
        credited.add(`${tenant ?? '-'}/${reference}`);
        return this.write(
          (row) =>
            row.tenant === tenant &&
            row.reference === reference &&
            row.amount === amount &&
            row.currency === currency &&
            row.paidAt === undefined,
        );
      },
      unpaid: ({ tenant }) => this.call('find', () => database.unpaid(tenant)),
    };
  }

  /** Credits the rows that match, over the network. Returns their number. */
  write(matches: Parameters<World['database']['credit']>[0]): Promise<number> {
    const { database, invariants } = this.world;
    return this.call('credit', () => {
      const rows = database.credit(matches);
      for (const row of rows) invariants.onCredit(row);
      return rows.length;
    });
  }

  /** Runs `work` in the database: the question and the answer can be lost. */
  call<T>(step: (typeof STEPS)[number], work: () => T): Promise<T> {
    const { time, faults, database } = this.world;
    const { life } = this;
    return new Promise<T>((resolve, reject) => {
      const answer = (settle: () => void): void => {
        const arrive = (): void => {
          if (!this.#dies(`${step} answered`)) settle();
        };
        time.after(faults.delay(), arrive, life);
      };
      const fail = (): void => answer(() => reject(new Error('the connection is cut')));
      if (faults.strikes('cut')) return fail();
      const run = (): void => {
        if (database.isDown) return fail();
        const result = work();
        if (life === this.life) this.#dies(`${step} done`);
        if (faults.strikes('cut')) fail();
        else answer(() => resolve(result));
      };
      time.after(faults.delay(), run, null);
      this.#dies(`${step} sent`);
    });
  }

  #fetchFor(tenant: string | null): (url: string) => Promise<Response> {
    const reach = this.world.service.fetchFor(tenant);
    return async (url) => {
      const answering = reach(url);
      this.#dies('ask sent');
      const answer = await answering;
      return this.#dies('ask answered') ? new Promise<never>(() => undefined) : answer;
    };
  }

  /** Returns true if the process dies at this point. */
  #dies(point: CrashPoint): boolean {
    const crash = this.#crash;
    if (crash?.point !== point || !this.life.alive || (crash.times -= 1) > 0) return false;
    this.#crash = undefined;
    this.crash(point);
    return true;
  }
}
