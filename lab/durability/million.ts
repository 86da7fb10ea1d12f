/**
 * Sends very many good and bad deliveries. Checks that exactly the good ones are credited and that
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
  /** Called after each delivery. */
  readonly onDelivery?: (done: number) => void;
}

type Kind = 'first' | 'duplicate' | 'forged' | 'cutOff';

/** `acknowledged` counts the orders with a good notification. */
export interface MillionReport extends Verdict {
  readonly sent: Readonly<Record<Kind, number>>;
  readonly seconds: number;
  readonly ports: readonly number[];
  /** Each receiver's memory after this share of the deliveries. */
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
      // Waits until all are idle, so that the measurement sees only retained memory.
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

/** The allowed growth after the first tenth, for compiled code. */
const GROWTH = 5_000_000;

/** Returns true if no receiver kept its requests. */
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

/** Draws the next delivery and keeps account. Each has an unpaid order, even a forged one. */
class Deliveries {
  readonly sent: Record<Kind, number> = { first: 0, duplicate: 0, forged: 0, cutOff: 0 };
  readonly #book: Book;
  readonly #sender: Sender;
  readonly #random: Random;
  readonly #orders: Orders;
  /** Orders with a good notification, in the order of their first sending. */
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

  /** Draws from the newest, which may still be running, as often as from all. */
  #drawKnown(): string {
    const { length } = this.#good;
    const among = this.#random.chance(0.5) ? Math.min(LANES, length) : length;
    return this.#good[length - 1 - this.#random.below(among)]!;
  }
}
