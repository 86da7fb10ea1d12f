/**
 * Ends a cluster's master while orders are credited. Its replica takes over, possibly without the
 * last marks.
 */
import { paymentWebhook } from '@paylink/express';
import { createPayments } from '@paylink/payments';
import { redisStore } from '@paylink/redis';
import { Cluster } from 'ioredis';
import { Book } from '../durability/book.js';
import { creditOrder, creditWithOrder } from '../durability/credit-order.js';
import { SECRET } from '../durability/delivery.js';
import { openMerchant } from '../durability/merchant.js';
import { Random } from '../durability/random.js';
import { Sender } from '../durability/sender.js';
import { paidService } from '../durability/service.js';
import type { PostgresServer } from '../../test/servers/postgres.js';
import { startRedisCluster } from './redis-cluster.js';
import type { Found } from './suites.js';

const ORDERS = 600;
const SENDERS = 6;
/** Orders that are acknowledged before the master ends. */
const BEFORE = 100;

/**
 * Checks that each order is credited once, by a credit as documented for `redisStore`, and that
 * none is acknowledged early.
 */
export async function failover(server: PostgresServer): Promise<Found> {
  const redis = await startRedisCluster({ replicas: 1, nodeTimeout: 1_000 });
  const client = new Cluster(redis.ports.map((port) => ({ host: '127.0.0.1', port })));
  client.on('error', () => undefined);
  const book = await Book.open(server, 'failover');
  const silent = { warn: () => undefined, error: () => undefined };
  let calls = 0;
  const merchant = await openMerchant({
    database: book.url,
    webhook: (pool) =>
      paymentWebhook(
        { secret: SECRET, logger: silent },
        createPayments({
          client: paidService,
          store: redisStore(client, { leaseMs: 1_000 }),
          credit: (payment) => {
            calls += 1;
            return creditOrder(pool, payment, 0, creditWithOrder);
          },
        }),
      ),
  });
  const sender = new Sender([merchant.port], new Random(1));
  try {
    const references = await book.addOrders(ORDERS);
    const waiting = [...references];
    let acknowledged = 0;
    let ended: Promise<void> | undefined;
    const send = async (): Promise<void> => {
      for (let reference = waiting.shift(); reference !== undefined; reference = waiting.shift()) {
        await sender.untilAcknowledged(reference);
        await book.acknowledge(reference);
        acknowledged += 1;
        if (acknowledged >= BEFORE) await (ended ??= redis.killMaster());
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, send));
    const refused = sender.attempts.refused;
    // Replays all of them: the credits that the new master does not know run again.
    for (const reference of references) await sender.untilAcknowledged(reference);
    const { credited, lost, doubled, early } = await book.verdict();
    const isRight = credited === ORDERS && lost === 0 && doubled === 0 && early === 0;
    return {
      ran:
        `${ORDERS} orders and their replays, ${refused} refused until the replica was ` +
        `master, ${calls - ORDERS} credits run again`,
      faults: [
        ...(isRight
          ? []
          : [
              `of ${ORDERS} orders ${credited} credited, ${lost} lost, ${doubled} ` +
                `doubled, ${early} early`,
            ]),
        ...(refused > 0 ? [] : ['no delivery came while there was no master']),
        ...(redis.masters() === 3 ? [] : ['no replica took over']),
      ],
    };
  } finally {
    sender.close();
    await merchant.close();
    await book.close();
    client.disconnect();
    await redis.close();
  }
}
