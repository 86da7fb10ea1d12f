/**
 * One history from one seed: a service, the processes of a merchant, a database between them, and
 * all faults.
 */
import { VirtualTime } from './virtual-time.js';
import { Random } from '../random.js';
import { Database } from './database.js';
import { RIGHT, type Design } from './designs.js';
import { Faults } from './faults.js';
import { Invariants, type Violation } from './invariants.js';
import { Service, type Notification, type Payment } from './service.js';
import { CRASH_POINTS, Shop, type CrashPoint } from './shop.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** The attacks of somebody who has read every past delivery, without a secret. */
const ATTACKS = ['forge', 'replay', 'replay', 'relabel', 'relabel', 'other tenant'] as const;

export interface Order {
  readonly tenant: string | null;
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
}

export interface History {
  readonly violations: readonly Violation[];
  readonly timeline: readonly string[];
  readonly happenings: number;
  /** Milliseconds of virtual time. */
  readonly duration: number;
  readonly credits: number;
  readonly crashes: ReadonlyMap<CrashPoint, number>;
}

export class World {
  readonly random: Random;
  readonly time: VirtualTime;
  readonly faults: Faults;
  readonly database: Database;
  readonly service: Service;
  readonly invariants: Invariants;
  readonly orders: Order[] = [];
  readonly shops: Shop[] = [];
  readonly tenants: readonly (string | null)[];
  readonly crashes = new Map<CrashPoint, number>();
  /** Set if the service writes the attempt's number into the body. */
  readonly tellsAttempt: boolean;
  /** Set if `find` reads a replica. */
  readonly readsReplica: boolean;
  readonly #timeline: string[] = [];
  readonly #design: Design;

  constructor(seed: number, design: Design = RIGHT) {
    const random = new Random(seed);
    this.random = random;
    this.#design = design;
    this.time = new VirtualTime(random);
    this.faults = new Faults(random);
    this.tellsAttempt = random.chance(0.5);
    this.readsReplica = random.chance(0.2);
    this.tenants = random.chance(0.5) ? ['acme', 'zeta'] : [null];
    this.database = new Database(() => this.time.now);
    this.database.lag = random.below(5_000);
    this.service = new Service(this);
    this.invariants = new Invariants(this);
  }

  tell(actor: string, text: string): void {
    const seconds = (this.time.now / 1_000).toFixed(3).padStart(11);
    this.#timeline.push(`${seconds}  ${actor.padEnd(10)}  ${text}`);
  }

  async run(): Promise<History> {
    const { random, time } = this;
    const end = [2 * MINUTE, 10 * MINUTE, HOUR, 6 * HOUR][random.below(4)]!;
    for (let number = 1; number <= 2 + random.below(2); number += 1)
      this.shops.push(new Shop(this, `process ${number}`, this.#design));
    this.#planOrders(end);
    this.#planFaults(end);
    for (let attacks = random.below(6); attacks > 0; attacks -= 1)
      this.#at(random.next() * end, () => this.#attack());
    const interval = 5 * MINUTE + random.below(25 * MINUTE);
    for (let at = interval; at < end; at += interval) this.#at(at, () => this.#shop().reconcile());

    let happenings = await time.run(end);
    this.tell('world', 'the faults end');
    this.faults.end();
    this.database.isDown = false;
    this.database.lag = 0;
    for (const shop of this.shops) shop.recover();
    this.#planPasses(end);
    happenings += await time.run(Infinity);
    this.invariants.atTheEnd();
    const credits = this.orders.map(
      ({ tenant, reference }) => this.database.row(tenant, reference)?.credits ?? 0,
    );
    return {
      violations: this.invariants.violations,
      timeline: this.#timeline,
      happenings,
      duration: time.now,
      credits: credits.reduce((sum, count) => sum + count, 0),
      crashes: this.crashes,
    };
  }

  /**
   * Posts a notification to a process over the network. Calls `answered` without a status if no
   * reply comes in time.
   */
  post(
    notification: Notification,
    timeout: number,
    answered: (status: number | undefined) => void,
  ): void {
    const { faults } = this;
    let isOpen = true;
    const settle = (status: number | undefined): void => {
      if (isOpen) answered(status);
      isOpen = false;
    };
    this.#at(timeout, () => settle(undefined));
    const reply = (status: number): void => {
      if (!faults.strikes('cut')) this.#at(faults.delay(), () => settle(status));
    };
    for (let copies = this.#copies(); copies > 0; copies -= 1) {
      const shop = this.#shop();
      this.#at(faults.delay(), () => shop.receive(notification, reply));
    }
  }

  #at(milliseconds: number, run: () => void): void {
    this.time.after(milliseconds, run, null);
  }

  #copies(): number {
    return this.faults.strikes('lost') ? 0 : this.faults.strikes('doubled') ? 2 : 1;
  }

  #shop(): Shop {
    return this.shops[this.random.below(this.shops.length)]!;
  }

  #planOrders(end: number): void {
    const { random, service } = this;
    const count = 1 + random.below(3);
    for (let number = 1; number <= count; number += 1) {
      const reference = `order-${number}`;
      let amount = 100 * (1 + random.below(500));
      for (const tenant of this.tenants) {
        // Two shops can sell the same thing under the same number.
        if (random.chance(0.5)) amount = 100 * (1 + random.below(500));
        const order = { tenant, reference, amount, currency: 'XOF' };
        this.orders.push(order);
        const created = random.next() * end * 0.8;
        // Some shops commit the row after they publish the link, against the advice.
        const recorded = random.chance(0.2) ? created + random.below(10_000) : created;
        this.#at(recorded, () => this.database.record(order));
        // Some links were never created, are stale, or have another currency.
        if (random.chance(0.05)) continue;
        const payment: Payment = {
          ...order,
          amount: random.chance(0.05) ? amount + 100 : amount,
          currency: random.chance(0.05) ? 'EUR' : 'XOF',
          status: 'pending',
        };
        this.#at(created, () => service.createPayment(payment));
        this.#planCustomer(order, payment, created, end);
      }
    }
  }

  #planCustomer(order: Order, payment: Payment, created: number, end: number): void {
    const { random, service } = this;
    const { tenant, reference } = order;
    const within = (): number => created + 1 + random.next() * Math.min(end - created, 5 * MINUTE);
    const decide = (status: Payment['status']): void => {
      if (!service.decide(payment, status)) return;
      this.tell('customer', `${status}: ${tenant ?? '-'}/${reference}`);
      this.#openPages(order);
      if (status === 'success') this.#planLater(order);
    };
    const first = within();
    if (random.chance(0.3)) {
      this.#at(first, () => decide('failed'));
      // The second try follows at once, while the page of the first one is still asking.
      if (random.chance(0.7)) this.#at(first + random.below(4_000), () => decide('success'));
    }
    // Some customers open the page before they pay, or never pay.
    if (random.chance(0.2)) this.#at(within(), () => this.#openPages(order));
    if (random.chance(0.1)) this.#at(within(), () => decide('cancelled'));
    if (random.chance(0.8)) this.#at(within(), () => decide('success'));
    if (random.chance(0.1)) {
      this.#at(within(), () => {
        const row = this.database.row(tenant, reference);
        if (row !== undefined && row.paidAt === undefined) row.closedAt = this.time.now;
      });
    }
  }

  /** Ships the order, and refunds it. */
  #planLater({ tenant, reference }: Order): void {
    const { random } = this;
    const later = (change: (row: NonNullable<ReturnType<Database['row']>>) => void): void => {
      this.#at(random.below(2 * MINUTE), () => {
        const row = this.database.row(tenant, reference);
        if (row?.paidAt !== undefined) change(row);
      });
    };
    if (random.chance(0.5)) later((row) => (row.isShipped = true));
    if (random.chance(0.3))
      later((row) => {
        if (this.#design.refundResets === true) row.paidAt = undefined;
      });
  }

  /** Opens the return page at once or late, and reloads it, on any process. */
  #openPages(order: Order): void {
    const { random } = this;
    let at = random.chance(0.7) ? random.below(200) : random.below(10 * MINUTE);
    for (let views = random.below(4); views > 0; views -= 1) {
      for (let copies = this.#copies(); copies > 0; copies -= 1) {
        const shop = this.#shop();
        this.#at(at + this.faults.delay(), () => shop.settle(order));
      }
      at += random.below(random.chance(0.5) ? 100 : 5_000);
    }
  }

  #planFaults(end: number): void {
    const { random } = this;
    for (const shop of this.shops) {
      if (random.chance(0.7)) {
        const point = CRASH_POINTS[random.below(CRASH_POINTS.length)]!;
        shop.crashAt(point, 1 + random.below(4));
      }
      for (let crashes = random.below(3); crashes > 0; crashes -= 1)
        this.#at(random.next() * end, () => shop.crash('at any time'));
      if (random.chance(0.3))
        this.#at(random.next() * end, () => shop.pause(random.below(120_000)));
    }
    if (random.chance(0.2)) {
      const start = random.next() * end;
      this.#at(start, () => (this.database.isDown = true));
      this.#at(start + random.below(20_000), () => (this.database.isDown = false));
    }
  }

  #attack(): void {
    const { random, service, tenants } = this;
    const attack = ATTACKS[random.below(ATTACKS.length)]!;
    const genuine = service.sent[random.below(service.sent.length)];
    if (genuine === undefined) return;
    const sent: Notification = {
      forge: { ...genuine, signature: 'ab'.repeat(32), signedFor: undefined },
      replay: genuine,
      relabel: { ...genuine, kind: 'payment.succeeded' },
      'other tenant': { ...genuine, tenant: tenants[random.below(tenants.length)]! },
    }[attack];
    this.post(sent, 30_000, (status) => {
      this.tell('attacker', `${attack}: ${sent.kind} ${sent.reference}: ${status ?? 'no answer'}`);
    });
  }

  /** After the last fault: the schedule runs until a pass is complete, and late replays come. */
  #planPasses(end: number): void {
    const pass = (number: number): void => {
      this.#shop().reconcile((isComplete) => {
        if (isComplete) this.invariants.afterReconcile();
        else if (number < 10) this.#at(2 * MINUTE, () => pass(number + 1));
      });
    };
    this.#at(5 * MINUTE + Math.max(0, end - this.time.now), () => pass(1));
    // A replay after two years looks like a replay today.
    for (let replays = 1 + this.random.below(3); replays > 0; replays -= 1)
      this.#at(12 * HOUR + this.random.next() * 2 * 365 * 24 * HOUR, () => this.#attack());
  }
}
