import { randomBytes } from 'node:crypto';
import { PGlite } from '@electric-sql/pglite';
import { createClient, type PaylinkClient } from '@paylink/client';
import { startEmulator, type Emulator } from '@paylink/emulator';
import type { Inbox } from '@paylink/payments';
import { close, listen } from '../listen.js';
import { Orders } from '../orders.js';
import { openPayments } from '../payments.js';
import { startSchedule } from '../schedule.js';
import { createShop } from '../shop.js';

export interface RunningDemo {
  readonly shopUrl: string;
  readonly emulator: Emulator;
  /** The shop's own client of the service. */
  readonly paylink: PaylinkClient;
  /** The shop's database. */
  readonly db: PGlite;
  /** The failed deliveries. */
  readonly inbox: Inbox;
  /** Runs the shop's schedule at once, and then every minute. */
  readonly startSchedule: () => void;
  close(): Promise<void>;
}

/** Milliseconds between two runs. Every run asks the service about each unpaid order. */
const INTERVAL = 60_000;

/** Starts the shop with an embedded database, and the emulator that plays the payment service. */
export async function startDemo(port: number): Promise<RunningDemo> {
  const { server, url: shopUrl } = await listen(port);
  const db = new PGlite();
  const closing: (() => Promise<void>)[] = [() => close(server), () => db.close()];
  const closeAll = async (): Promise<void> => {
    for (const step of closing.splice(0)) await step();
  };
  try {
    const webhook = {
      url: `${shopUrl}/webhooks/payments`,
      secret: randomBytes(32).toString('hex'),
    };
    const emulator = await startEmulator({ webhook });
    closing.unshift(() => emulator.close());

    const { baseUrl, apiKey, payUrl, webhookSecret } = emulator;
    const paylink = createClient({ baseUrl, apiKey });
    const orders = await Orders.open(db);
    const { payments, inbox } = await openPayments(db, paylink);
    const options = { orders, payments, paylink, shopUrl, payUrl, webhookSecret };
    server.on('request', createShop(options));
    const schedule = (): void => {
      closing.unshift(startSchedule({ orders, payments, interval: INTERVAL }));
    };
    return { shopUrl, emulator, paylink, db, inbox, startSchedule: schedule, close: closeAll };
  } catch (error) {
    await closeAll();
    throw error;
  }
}
