/**
 * Very many deliveries, good and bad, and whether exactly the good ones are credited while the
 * memory stays flat.
 */
import type { PostgresServer } from '../../test/servers/postgres.js';
import { Book, type Verdict } from './book.js';
import { forged, genuine } from './delivery.js';
import { Orders } from './orders.js';
import { Random } from './random.js';
import { Receivers, type Memory } from './receivers.js';
import { Sender } from './sender.js';

export interface MillionPlan {
  readonly count: number;
  readonly seed: number;
  /** Told after each delivery. */
  readonly onDelivery?: (done: number) => void;
}

type Kind = 'first' | 'duplicate' | 'forged' | 'cutOff';

/** `acknowledged` are the orders whose notification was good. */
export interface MillionReport extends Verdict {
  readonly sent: Readonly<Record<Kind, number>>;
  readonly seconds: number;
  readonly ports: readonly number[];
  /** Of each receiver, when this share of the deliveries was through. */
  readonly memory: readonly { readonly share: number; readonly receivers: readonly Memory[] }[];
}

const DUPLICATES = 0.1;
const FORGED = 0.05;
const CUT_OFF = 0.01;
const LANES = 32;
const ORDERS_AT_ONCE = 10_000;
const MEASURED_AT = [0.1, 0.5, 1];

export async function runMillion(
  server: PostgresServer,
  { count, seed, onDelivery }: MillionPlan,
): Promise<MillionReport> {
  const book = await Book.open(server, 'million');
  const receivers = await Receivers.start({
    design: 'postgresStore',
    database: book.url,
    connections: 10,
    workMs: 0,
  });
  const sender = new Sender(receivers.ports, new Random(seed));
  const deliveries = new Deliveries(book, sender, new Random(seed + 1));
  const memory: { share: number; receivers: Memory[] }[] = [];
  const started = performance.now();
  try {
    let done = 0;
    for (const share of MEASURED_AT) {
      // All at rest before the measure, so that it holds nothing but what stays.
      await inLanes(Math.round(count * share) - done, async () => {
        await deliveries.sendNext();
        done += 1;
        onDelivery?.(done);
      });
      memory.push({ share, receivers: await receivers.memory() });
    }
    const seconds = (performance.now() - started) / 1_000;
    return {
      sent: deliveries.sent,
      seconds,
      memory,
      ports: receivers.ports,
      ...(await deliveries.verdict()),
    };
  } finally {
    sender.close();
    await receivers.close();
    await book.close();
  }
}

/**
 * What each receiver may hold more at the end than after the first tenth: garbage is collected
 * before, and compiled code is not.
 */
const GROWTH = 5_000_000;

/** Whether no receiver held on to what it was sent. */
export function isFlat({ memory }: Pick<MillionReport, 'memory'>): boolean {
  const first = memory[0]!.receivers;
  return memory.at(-1)!.receivers.every(({ live }, index) => live - first[index]!.live < GROWTH);
}

async function inLanes(count: number, step: () => Promise<void>): Promise<void> {
  let begun = 0;
  const lane = async (): Promise<void> => {
    while (begun < count) {
      begun += 1;
      await step();
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

/**
 * Draws what is sent next, and keeps account of it. Every one has an order that waits for its
 * money, a forged one too.
 */
class Deliveries {
  readonly sent: Record<Kind, number> = { first: 0, duplicate: 0, forged: 0, cutOff: 0 };
  readonly #book: Book;
  readonly #sender: Sender;
  readonly #random: Random;
  readonly #orders: Orders;
  /** Orders that have a good notification, in the order in which it was first sent. */
  readonly #good: string[] = [];

  constructor(book: Book, sender: Sender, random: Random) {
    this.#book = book;
    this.#sender = sender;
    this.#random = random;
    this.#orders = new Orders(book, ORDERS_AT_ONCE);
  }

  async sendNext(): Promise<void> {
    const kind = this.#drawKind();
    this.sent[kind] += 1;
    if (kind === 'duplicate') await this.#sender.untilAcknowledged(this.#drawKnown());
    else if (kind === 'first') await this.#sendFirst();
    else if (kind === 'forged') await this.#sendForged();
    else await this.#sendCutOff();
  }

  async verdict(): Promise<Verdict> {
    for (let at = 0; at < this.#good.length; at += ORDERS_AT_ONCE) {
      await this.#book.acknowledgeAll(this.#good.slice(at, at + ORDERS_AT_ONCE));
    }
    return this.#book.verdict();
  }

  async #sendFirst(): Promise<void> {
    const reference = await this.#orders.next();
    this.#good.push(reference);
    await this.#sender.untilAcknowledged(reference);
  }

  async #sendForged(): Promise<void> {
    const status = await this.#sender.attempt(forged(await this.#orders.next()));
    if (status !== 401)
      throw new Error(`a forged notification was answered with ${status ?? 'nothing'}`);
  }

  async #sendCutOff(): Promise<void> {
    const request = genuine(await this.#orders.next());
    await this.#sender.abandon(request.subarray(0, 1 + this.#random.below(request.length - 1)));
  }

  #drawKind(): Kind {
    const drawn = this.#random.next();
    if (drawn < FORGED) return 'forged';
    if (drawn < FORGED + CUT_OFF) return 'cutOff';
    return drawn < FORGED + CUT_OFF + DUPLICATES && this.#good.length > 0 ? 'duplicate' : 'first';
  }

  /** Of the newest, which may be under way still, as often as of all. */
  #drawKnown(): string {
    const { length } = this.#good;
    const among = this.#random.chance(0.5) ? Math.min(LANES, length) : length;
    return this.#good[length - 1 - this.#random.below(among)]!;
  }
}
