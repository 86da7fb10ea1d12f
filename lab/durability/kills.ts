/**
 * Kills receivers at random moments while orders are paid, then checks the money in the database.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { PostgresServer } from '../../test/servers/postgres.js';
import { Book, type Verdict } from './book.js';
import { designs, type DesignName } from './designs/index.js';
import { Orders } from './orders.js';
import { Random } from './random.js';
import { Receivers } from './receivers.js';
import { Sender } from './sender.js';

export interface KillPlan {
  readonly design: DesignName;
  /** The URL of a Redis, for designs that need one. */
  readonly redis?: string | undefined;
  readonly kills: number;
  /** Repeats the choice of killed receivers, waits, and deliveries. */
  readonly seed: number;
  /** The Node executable of the receivers. */
  readonly node?: string | undefined;
  /** Concurrent orders. Default 12. */
  readonly lanes?: number;
  /** See creditOrder. Default 8. */
  readonly workMs?: number;
  /** Called after each kill. */
  readonly onKill?: (killed: number) => void;
}

export interface KillReport extends Verdict {
  readonly design: DesignName;
  readonly kills: number;
  /** Attempts that a kill left unanswered. */
  readonly cut: number;
  readonly seconds: number;
}

const LONGEST_WAIT_MS = 40;
/**
 * The share of receivers that are paused before the kill, and resume when others may have taken
 * over.
 */
const FROZEN = 0.1;
const LONGEST_FREEZE_MS = 100;
const DUPLICATED = 0.3;
const ORDERS_AT_ONCE = 500;

/** Returns true if the money is right, or wrong for a design that is known to fail. */
export function isAsKnown({ design, lost, doubled, alien }: KillReport): boolean {
  const { loses, doubles } = designs[design];
  return lost > 0 === loses && doubled > 0 === doubles && alien === 0;
}

/** Runs until all kills are done and every started order is acknowledged. */
export async function runKills(server: PostgresServer, plan: KillPlan): Promise<KillReport> {
  const { design, redis, kills, seed, node, lanes = 12, workMs = 8 } = plan;
  const book = await Book.open(server, `kills_${design}_${seed}`);
  const settings = { design, redis, database: book.url, connections: 10, workMs, node };
  const receivers = await Receivers.start(settings, { count: 2, spares: 3 });
  const sender = new Sender(receivers.ports, new Random(seed));
  const started = performance.now();
  try {
    let killing = true;
    const paying = payOrders(book, sender, new Random(seed + 1), lanes, () => killing);
    // A failure during the kills must end the run. The wait below throws it.
    paying.catch(() => undefined);
    await killAtRandom(receivers, new Random(seed + 2), kills, plan.onKill).finally(
      () => (killing = false),
    );
    await paying;
    const seconds = (performance.now() - started) / 1_000;
    return { design, kills, cut: sender.attempts.cut, seconds, ...(await book.verdict()) };
  } finally {
    sender.close();
    await receivers.close();
    await book.close();
  }
}

async function killAtRandom(
  receivers: Receivers,
  random: Random,
  kills: number,
  onKill?: (killed: number) => void,
): Promise<void> {
  const drawn = (): number => random.below(receivers.ports.length);
  for (let killed = 1; killed <= kills; killed += 1) {
    await pause(random.next() * LONGEST_WAIT_MS);
    if (random.chance(FROZEN)) await receivers.freeze(drawn(), random.next() * LONGEST_FREEZE_MS);
    await receivers.kill(drawn());
    onKill?.(killed);
  }
}

/** Pays orders in concurrent lanes, some of them with two notifications at once. */
async function payOrders(
  book: Book,
  sender: Sender,
  random: Random,
  lanes: number,
  goOn: () => boolean,
): Promise<void> {
  const orders = new Orders(book, ORDERS_AT_ONCE);
  const lane = async (): Promise<void> => {
    while (goOn()) {
      const reference = await orders.next();
      const notifications = random.chance(DUPLICATED) ? 2 : 1;
      await Promise.all(
        Array.from({ length: notifications }, () =>
          sender.untilAcknowledged(reference).then(() => book.acknowledge(reference)),
        ),
      );
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
