/** A merchant's server process: a receiver in one of the designs, which restarts after a crash. */
import type { ReconcileReport } from '@paylink/payments';
import type { Receives, Running } from './designs/design.js';
import { SimulatedPool } from './pool.js';
import { Life } from './process.js';
import type { Notification } from './service.js';
import type { Order, World } from './world.js';

export class Merchant {
  unanswered = 0;
  #life!: Life;
  #running!: Running;
  #crashAfter: { requests: number; milliseconds: number } | undefined;
  #pauseAfter: { requests: number; milliseconds: number; length: number } | undefined;
  #lives = 0;

  constructor(
    readonly world: World,
    readonly name: string,
  ) {
    this.#start();
  }

  /** Kills the process, and restarts it after `downtime`. */
  crash(downtime: number): void {
    if (!this.#life.alive) return;
    this.world.timeline.tell(this.name, 'is killed');
    this.#life.kill();
    this.world.time.after(downtime, () => this.#start(), null);
  }

  pause(milliseconds: number): void {
    this.world.timeline.tell(this.name, `stands still for ${milliseconds} ms`);
    this.#life.pause(this.world.time.now, milliseconds);
  }

  crashAfterRequests(requests: number, milliseconds: number): void {
    this.#crashAfter = { requests, milliseconds };
  }

  pauseAfterRequests(requests: number, milliseconds: number, length: number): void {
    this.#pauseAfter = { requests, milliseconds, length };
  }

  /** Ends the faults. */
  recover(): void {
    this.#life.pausedUntil = 0;
    this.#crashAfter = this.#pauseAfter = undefined;
    if (!this.#life.alive) this.#start();
  }

  receive(notification: Notification, answered: (status: number) => void): void {
    const { kind, tenant, reference } = notification;
    let outcome: string | undefined;
    this.#serve(async (running) => {
      const status = await running
        .receive(receivedBy(notification), (told) => (outcome = told))
        .catch(() => 500);
      return (took) => {
        this.world.invariants.onReply(notification, status, outcome, took);
        this.world.timeline.tell(this.name, `${kind} ${tenant}/${reference} -> ${status}`);
        answered(status);
      };
    });
  }

  /** Shows the return page to a customer. */
  settle(order: Order): void {
    const name = `the return page of ${order.tenant}/${order.reference}`;
    this.#serve(async (running) => {
      try {
        const settled = await running.settle(order.tenant, order.reference);
        return (took) => {
          this.world.invariants.onSettled(order, settled, took);
          this.world.timeline.tell(
            this.name,
            `${name} -> ${settled.status}${settled.credited ? ', credited' : ''}`,
          );
        };
      } catch (error) {
        return (took) => {
          this.world.invariants.onSettled(order, undefined, took);
          this.world.timeline.tell(this.name, `${name} -> ${String(error)}`);
        };
      }
    });
  }

  /** Handles a request in the present life. `run` returns the reply, which gets the duration. */
  #serve(run: (running: Running) => Promise<(took: number) => void>): void {
    const life = this.#life;
    if (!life.alive) return;
    this.#countRequest();
    this.unanswered += 1;
    let open = true;
    const close = (): void => {
      if (open) this.unanswered -= 1;
      open = false;
    };
    life.onDeath(close);
    this.world.time.after(
      0,
      () => {
        const started = this.world.time.now - life.pausedFor;
        const reply = async (): Promise<void> => {
          const answer = await run(this.#running);
          if (!life.alive) return;
          close();
          answer(this.world.time.now - life.pausedFor - started);
        };
        void reply();
      },
      life,
    );
  }

  /** Runs one reconcile pass over the unpaid orders of every tenant. */
  reconcile(ended: (complete: boolean) => void = () => undefined): void {
    const life = this.#life;
    let open = true;
    const settle = (complete: boolean): void => {
      if (!open) return;
      open = false;
      this.world.timeline.tell(this.name, `reconcile: ${complete ? 'complete' : 'not complete'}`);
      ended(complete);
    };
    life.onDeath(() => settle(false));
    if (!life.alive) {
      settle(false);
      return;
    }
    this.world.time.after(
      0,
      () => {
        this.#running.reconcile().then(
          (reports) => settle(reports.every(isComplete)),
          (error: unknown) => {
            this.world.timeline.tell(this.name, `reconcile failed: ${String(error)}`);
            settle(false);
          },
        );
      },
      life,
    );
  }

  #start(): void {
    if (this.#lives > 0 && this.#life.alive) return;
    this.#lives += 1;
    const life = new Life(this.name, this.#lives);
    this.#life = life;
    const { world } = this;
    const previous = world.time.acting;
    world.time.acting = life;
    this.#running = world.design.start({
      world,
      life,
      pool: new SimulatedPool(world, life, { max: 1 + world.random.below(4) }),
      log: (line) => world.timeline.tell(this.name, line),
    });
    world.time.acting = previous;
    if (this.#lives > 1) world.timeline.tell(this.name, 'starts again');
  }

  #countRequest(): void {
    const { time } = this.world;
    if (this.#crashAfter !== undefined && (this.#crashAfter.requests -= 1) === 0) {
      time.after(
        this.#crashAfter.milliseconds,
        () => this.crash(this.world.random.below(30_000)),
        null,
      );
    }
    if (this.#pauseAfter !== undefined && (this.#pauseAfter.requests -= 1) === 0) {
      const { milliseconds, length } = this.#pauseAfter;
      time.after(milliseconds, () => this.pause(length), null);
    }
  }
}

/**
 * Excludes orders whose link has another amount: they are refused on purpose, and a person must
 * look.
 */
function isComplete({ errors, inProgress, notAsked }: ReconcileReport): boolean {
  return (
    inProgress.length === 0 &&
    notAsked.length === 0 &&
    errors.every(
      ({ error }) => (error as { code?: unknown } | undefined)?.code === 'amount_differs',
    )
  );
}

function receivedBy({ tenant, kind, body, signature }: Notification): Receives {
  return { path: tenant, kind, body: new TextEncoder().encode(body), signature };
}
