/**
 * One history from one seed: a service, merchants' receivers, a database between them, and all
 * faults.
 */
import { Random } from '../durability/random.js';
import { Database } from './database.js';
import { designs, type DesignName } from './designs/index.js';
import { Faults } from './faults.js';
import { Invariants, type Violation } from './invariants.js';
import { Merchant } from './merchant.js';
import { DatabaseServer } from './pool.js';
import { RedisServer } from './redis-server.js';
import { Service, type Notification } from './service.js';
import { orderKey } from './statements.js';
import { Timeline } from './timeline.js';
import { VirtualTime } from './virtual-time.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/**
 * The attacks of somebody who has read every past delivery, without a secret. Repeated entries are
 * more frequent.
 */
const ATTACKS = ['forge', 'replay', 'replay', 'relabel', 'relabel', 'other tenant'] as const;

export interface Order {
  readonly tenant: string;
  readonly reference: string;
  readonly amount: number;
  /** The amount of the paid link, which differs from the order's for a stale link. */
  readonly linkAmount: number;
}

export interface HistoryResult {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly timeline: string;
  readonly happenings: number;
  /** Milliseconds of virtual time. */
  readonly duration: number;
}

export class World {
  readonly random: Random;
  readonly time: VirtualTime;
  readonly timeline: Timeline;
  readonly faults: Faults;
  readonly database: DatabaseServer;
  readonly redis: RedisServer;
  readonly service: Service;
  readonly invariants: Invariants;
  readonly orders: Order[] = [];
  readonly merchants: Merchant[] = [];
  /** Set if the service writes the attempt's number into the body. */
  readonly tellsAttempt: boolean;
  readonly tenants: readonly string[];
  readonly secrets: ReadonlyMap<string, string>;

  constructor(
    readonly seed: number,
    readonly designName: DesignName,
  ) {
    const random = new Random(seed);
    this.random = random;
    this.time = new VirtualTime(random);
    this.timeline = new Timeline(() => this.time.now);
    this.faults = new Faults(
      random,
      (['calm', 'rough', 'rough', 'storm'] as const)[random.below(4)]!,
    );
    this.tellsAttempt = random.chance(0.5);
    this.tenants = random.chance(0.5) ? ['acme', 'zeta'] : ['acme'];
    this.secrets = new Map(this.tenants.map((tenant) => [tenant, `webhook-secret-of-${tenant}`]));
    const model = new Database(
      (session, timeout) => {
        const { transaction } = session;
        this.time.after(
          timeout,
          () => {
            if (session.transaction === transaction && !session.isBusy) session.terminate();
          },
          null,
        );
      },
      () => random.chance(0.2),
    );
    this.database = new DatabaseServer(model);
    this.redis = new RedisServer(this);
    this.service = new Service(this, this.secrets);
    this.invariants = new Invariants(this);
  }

  get design() {
    return designs[this.designName];
  }

  async run(): Promise<HistoryResult> {
    const { random, time } = this;
    const end = this.#length();
    const count = 2 + random.below(2);
    for (let number = 1; number <= count; number += 1)
      this.merchants.push(new Merchant(this, `receiver-${number}`));
    this.#planOrders(end);
    this.#planFaults(end);
    this.#planAttacks(end);
    this.#planReconcile(end);

    let happenings = await time.run(end);
    this.timeline.tell('world', 'the faults end');
    this.faults.clear();
    this.database.isDown = false;
    for (const merchant of this.merchants) merchant.recover();
    this.#settleAfter(end);
    happenings += await time.run(Infinity);
    this.invariants.atTheEnd();
    return {
      seed: this.seed,
      violations: this.invariants.violations,
      timeline: String(this.timeline),
      happenings,
      duration: time.now,
    };
  }

  /**
   * Posts a notification to a receiver over the network. Calls `answered` without a status if no
   * reply comes in time.
   */
  post(
    notification: Notification,
    timeout: number,
    answered: (status: number | undefined) => void,
  ): void {
    const { time, faults, random } = this;
    let open = true;
    const settle = (status: number | undefined): void => {
      if (!open) return;
      open = false;
      answered(status);
    };
    time.after(timeout, () => settle(undefined), null);
    const copies = faults.strikes('lost') ? 0 : faults.strikes('doubled') ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      const merchant = this.merchants[random.below(this.merchants.length)]!;
      time.after(
        faults.delay(),
        () => {
          merchant.receive(notification, (status) => {
            if (!faults.strikes('cut')) time.after(faults.delay(), () => settle(status), null);
          });
        },
        null,
      );
    }
  }

  #length(): number {
    return [2 * MINUTE, 10 * MINUTE, HOUR, 6 * HOUR][this.random.below(4)]!;
  }

  #planOrders(end: number): void {
    const { random, time, service } = this;
    const count = 1 + random.below(3);
    for (let number = 1; number <= count; number += 1) {
      const reference = `order-${number}`;
      for (const tenant of this.tenants) {
        const amount = 100 * (1 + random.below(500));
        const stale = random.chance(0.05);
        const order: Order = {
          tenant,
          reference,
          amount,
          linkAmount: stale ? amount + 100 : amount,
        };
        this.orders.push(order);
        const created = random.next() * end * 0.8;
        // Some shops commit rows after they publish the link, against the advice.
        const recorded = random.chance(0.2) ? created + random.below(10_000) : created;
        time.after(recorded, () => this.#record(order), null);
        const ledger = service.ledgerOf(tenant);
        const { token } = ledger.create(
          { reference, price: { amount: order.linkAmount }, singleUse: true },
          undefined,
        );
        this.#planCustomer(order, token, created, end);
      }
    }
  }

  #record({ tenant, reference, amount }: Order): void {
    this.timeline.tell('shop', `records ${tenant}/${reference} over ${amount}`);
    this.database.model.insertCommitted('orders', orderKey(tenant, reference), {
      tenant,
      reference,
      amount,
      paid: false,
      credits: 0,
    });
  }

  #planCustomer(order: Order, token: string, created: number, end: number): void {
    const { random, time, service, timeline } = this;
    const { tenant, reference, linkAmount } = order;
    const ledger = service.ledgerOf(tenant);
    const within = (): number => created + random.next() * Math.min(end - created, 5 * MINUTE);
    if (random.chance(0.2)) {
      time.after(
        within(),
        () => {
          if (ledger.settle(token, 'failed')) {
            timeline.tell('customer', `fails to pay ${tenant}/${reference}`);
            service.notify(
              tenant,
              'payment.failed',
              reference,
              random.chance(0.5) ? { status: 'failed' } : {},
            );
            this.#returnToShop(order);
          }
        },
        null,
      );
    }
    const choice = random.next();
    // Some customers open the page before they pay, or again much later.
    if (random.chance(0.2)) time.after(within(), () => this.#openReturnPage(order), null);
    if (choice < 0.1) return;
    time.after(
      within(),
      () => {
        if (choice < 0.2) {
          if (ledger.settle(token, 'cancelled'))
            timeline.tell('customer', `cancels ${tenant}/${reference}`);
        } else if (ledger.pay(token, linkAmount) === 'paid') {
          timeline.tell('customer', `pays ${tenant}/${reference}`);
          this.#returnToShop(order);
          if (this.design.refunds && random.chance(0.2)) {
            time.after(
              random.below(10_000),
              () => service.notify(tenant, 'payment.refunded', reference),
              null,
            );
          }
        }
      },
      null,
    );
  }

  /** Opens the return page at once or late, reloads it, or never returns. */
  #returnToShop(order: Order): void {
    const { random, time } = this;
    let at = random.chance(0.7) ? random.below(200) : random.below(10 * MINUTE);
    for (let views = random.below(4); views > 0; views -= 1) {
      time.after(at, () => this.#openReturnPage(order), null);
      at += random.below(random.chance(0.5) ? 100 : 5_000);
    }
  }

  #openReturnPage(order: Order): void {
    const { time, faults } = this;
    const copies = faults.strikes('lost') ? 0 : faults.strikes('doubled') ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      const merchant = this.#anyMerchant();
      time.after(faults.delay(), () => merchant.settle(order), null);
    }
  }

  #planFaults(end: number): void {
    const { random, time } = this;
    for (const merchant of this.merchants) {
      for (let crashes = random.below(4); crashes > 0; crashes -= 1) {
        time.after(random.next() * end, () => merchant.crash(random.below(30_000)), null);
      }
      // At the worst moments too: shortly after a request.
      if (random.chance(0.5)) merchant.crashAfterRequests(1 + random.below(6), random.next() * 40);
      if (random.chance(0.3))
        time.after(random.next() * end, () => merchant.pause(random.below(120_000)), null);
      if (random.chance(0.3))
        merchant.pauseAfterRequests(1 + random.below(4), random.next() * 20, random.below(120_000));
    }
    if (random.chance(0.2)) {
      time.after(
        random.next() * end,
        () => {
          this.timeline.tell('database', 'crashes');
          this.database.isDown = true;
          this.database.model.crash();
          time.after(
            random.below(20_000),
            () => {
              this.database.isDown = false;
              this.timeline.tell('database', 'is back');
            },
            null,
          );
        },
        null,
      );
    }
  }

  #planAttacks(end: number): void {
    for (let attacks = this.random.below(6); attacks > 0; attacks -= 1) {
      this.time.after(this.random.next() * end, () => this.#attack(), null);
    }
  }

  #attack(): void {
    const { random, service } = this;
    const kind = ATTACKS[random.below(ATTACKS.length)]!;
    const genuine = service.sent[random.below(service.sent.length)];
    if (genuine === undefined) return;
    const other = this.tenants[random.below(this.tenants.length)]!;
    const sent: Notification = {
      forge: { ...genuine, signature: 'ab'.repeat(32), signedFor: undefined },
      replay: genuine,
      relabel: { ...genuine, kind: 'payment.succeeded' },
      'other tenant': { ...genuine, tenant: other },
    }[kind];
    this.post(sent, 30_000, (status) => {
      this.timeline.tell(
        'attacker',
        `${kind}: ${sent.kind} ${sent.tenant}/${sent.reference}: ${status ?? 'no answer'}`,
      );
    });
  }

  #planReconcile(end: number): void {
    const { random, time } = this;
    const interval = 5 * MINUTE + random.below(25 * MINUTE);
    for (let at = interval; at < end; at += interval) {
      time.after(at, () => this.#anyMerchant().reconcile(), null);
    }
  }

  #anyMerchant(): Merchant {
    return this.merchants[this.random.below(this.merchants.length)]!;
  }

  /** After the last fault: lets pending work end, runs one complete pass, then late events. */
  #settleAfter(end: number): void {
    const { time, random } = this;
    const pass = (number: number): void => {
      this.#anyMerchant().reconcile((complete) => {
        if (complete) this.invariants.afterReconcile();
        else if (number === 10)
          this.invariants.violated('hangs', 'no reconcile pass was complete in ten tries');
        else time.after(2 * MINUTE, () => pass(number + 1), null);
      });
    };
    time.after(5 * MINUTE + end - time.now, () => pass(1), null);
    // A replay after two years looks like a replay today.
    for (let replays = 1 + random.below(3); replays > 0; replays -= 1) {
      time.after(2 * 365 * 24 * HOUR * random.next() + 12 * HOUR, () => this.#attack(), null);
    }
  }
}
