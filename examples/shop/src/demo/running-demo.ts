import { randomBytes } from 'node:crypto';
import { PGlite } from '@electric-sql/pglite';
import { createClient, type PaylinkClient } from '@paylink/client';
import { startEmulator, type Emulator } from '@paylink/emulator';
import { postgresStore } from '@paylink/postgres';
import { close, listen } from '../listen.js';
import { Orders } from '../orders.js';
import { startReconciler } from '../reconciler.js';
import { createShop } from '../shop.js';

export interface RunningDemo {
  readonly shopUrl: string;
  readonly emulator: Emulator;
  /** The shop's own client of the service. */
  readonly paylink: PaylinkClient;
  /** The orders that the shop found paid by asking, and not by a notification. */
  readonly foundByAsking: ReadonlySet<string>;
  close(): Promise<void>;
}

/** Milliseconds between two rounds of asking. A real shop takes minutes. */
export const RECONCILE_INTERVAL = 2_000;

/** Starts the shop with an embedded database, and beside it the emulator that plays the payment service. */
export async function startDemo(port: number): Promise<RunningDemo> {
  const { server, url: shopUrl } = await listen(port);
  const db = new PGlite();
  const closing: (() => Promise<void>)[] = [() => close(server), () => db.close()];
  const closeAll = async (): Promise<void> => {
    for (const step of closing.splice(0)) await step();
  };
  try {
    const webhookSecret = randomBytes(32).toString('hex');
    const emulator = await startEmulator({ webhook: { url: `${shopUrl}/webhooks/payments`, secret: webhookSecret } });
    closing.unshift(() => emulator.close());

    const { baseUrl, apiKey, payUrl } = emulator;
    const paylink = createClient({ baseUrl, apiKey });
    const orders = await Orders.open(db);
    const idempotency = postgresStore(db);
    await idempotency.migrate();
    server.on('request', createShop({ orders, shopUrl, paylink, idempotency, payUrl, webhookSecret }));

    const foundByAsking = new Set<string>();
    const onCredit = (reference: string): void => void foundByAsking.add(reference);
    closing.unshift(startReconciler({ orders, paylink, idempotency, interval: RECONCILE_INTERVAL, onCredit }));
    return { shopUrl, emulator, paylink, foundByAsking, close: closeAll };
  } catch (error) {
    await closeAll();
    throw error;
  }
}
